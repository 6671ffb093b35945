import type { Gateway } from '../app/gateway.ts';
import { formsOf } from '../config/declaration/setting.ts';
import { SETTINGS } from '../config/declaration/settings.ts';
import { type MockApi, startMockApi } from '../mock/mock-api.ts';
import { type Command, print, textOption } from './command.ts';
import { configurationSource } from './configuration.ts';
import { serve } from './serve.ts';

export const demo: Command = {
  synopsis: '',
  summary: 'runs the proxy in front of a built-in mock of the API, with no account and no configuration',
  help: '\nIt listens at BEARERD_LISTEN and BEARERD_ADMIN_LISTEN (localhost:9180 and localhost:9181).\n',
  examples: ['bearerd demo', 'bearerd demo --listen localhost:8080 --admin-listen off'],
  variables: ['BEARERD_LISTEN', 'BEARERD_ADMIN_LISTEN', 'BEARERD_LOG_LEVEL', 'BEARERD_LOG_FORMAT'],
  options: {},
  positionals: [0, 0],
  settings: true,
  async run(values) {
    const mock = await startMockApi();
    // Files that lie around belong to a real account.
    const more = textOption(values, 'config') === undefined ? { content: {} } : {};
    const source = configurationSource(values, demoEnvironment(mock), more);
    try {
      return await serve({ source, onListening: (gateway) => print(invitation(gateway, mock)) });
    } catch (error) {
      await mock.close(); // It would keep the process alive.
      throw error;
    }
  },
};

/** The variables that the demo heeds: where it listens, its caller key, its log. The others belong to a real account. */
const HEEDED = [
  ...[
    SETTINGS.listen,
    SETTINGS.adminListen,
    SETTINGS.probesListen,
    SETTINGS.logLevel,
    SETTINGS.logFormat,
  ].map(({ variable }) => variable),
  ...formsOf(SETTINGS.callerKey),
];

/** The default story: a token everywhere, the API key where it is enough, no credential for the health check. */
function demoEnvironment({ url, credentials }: MockApi): Record<string, string | undefined> {
  return {
    ...Object.fromEntries(HEEDED.map((name) => [name, process.env[name]])),
    BEARERD_BASE_URL: url,
    BEARERD_CLIENT_ID: credentials.clientId,
    BEARERD_CLIENT_SECRET: credentials.clientSecret,
    BEARERD_API_KEY: credentials.apiKey,
    BEARERD_ROUTES: '/=token,/companies=apiKey,/health=none,/__mock=none',
  };
}

function invitation(gateway: Gateway, { url, credentials }: MockApi): string {
  const proxy = gateway.urls.find((address) => address.startsWith('http')) ?? 'http://localhost';
  const admin = gateway.adminUrls[0];
  const person = `{"matches":[{"fields":[{"field_name":"email_address","search_term":"${credentials.username}"}]}]}`;
  return `
  The mock of the API is at  ${url}
  bearerd is at              ${proxy}${admin === undefined ? '' : `, its status at ${admin}/`}

  None of these sends a credential. Try:

    curl -s ${proxy}/companies/example.com
    curl -s ${proxy}/api/people/v1/${credentials.orgId}/find -H 'content-type: application/json' -d '${person}'
    curl -s ${proxy}/echo

  To see it cope with trouble, break the mock:  curl -s ${url}/__mock -d login=down
  Ctrl-C stops it.

`;
}
