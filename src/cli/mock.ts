import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../base/errors.ts';
import { parseAddress } from '../config/values/addresses.ts';
import { parseBehaviour } from '../mock/behaviour.ts';
import { type MockApi, startMockApi } from '../mock/mock-api.ts';
import { type Command, print, textOption } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { stopOnSignal } from './signals.ts';

const DEFAULT_LISTEN = '127.0.0.1:9190';
const CLOSE_MS = 1_000;

export const mock: Command = {
  synopsis: '[--listen 127.0.0.1:9190] [--behave KNOBS]',
  summary: 'runs only the mock of the API, and prints the credentials that it takes',
  help: `
  --listen HOST:PORT   where to listen, ${DEFAULT_LISTEN} unless given
  --behave KNOBS       how it is to misbehave: login=down,tokenLifetime=3s (GET /__mock shows all of them)
`,
  examples: [
    'bearerd mock --behave login=down,tokenLifetime=3s',
    'bearerd mock --behave data=unauthorized        # 401 to each call, whatever the credential',
    'curl -s http://127.0.0.1:9190/__mock -d login=ok,data=ok',
  ],
  variables: [],
  options: { listen: { type: 'string' }, behave: { type: 'string' } },
  positionals: [0, 0],
  async run(values) {
    const address = addressOf(textOption(values, 'listen') ?? DEFAULT_LISTEN);
    const behaviour = textOption(values, 'behave');
    const patch = behaviour === undefined ? {} : parseBehaviour(behaviour);
    const api = await startMockApi(address);
    api.behave(patch);
    await print(announcement(api));
    return new Promise<number>(() => {
      stopOnSignal(async () => {
        await Promise.race([api.close(), sleep(CLOSE_MS)]);
        return EXIT.done;
      });
    });
  },
};

function addressOf(text: string): { host: string; port: number } {
  const parsed = parseAddress(text);
  if ('problem' in parsed) throw new UsageError(`--listen ${text}: ${parsed.problem}`);
  if (parsed.value.kind === 'unix')
    throw new UsageError(`--listen ${text}: the mock listens on HOST:PORT only`);
  return parsed.value;
}

function announcement({ url, credentials }: MockApi): string {
  return `
  The mock of the API is at ${url}. It takes these:

    BEARERD_BASE_URL=${url}
    BEARERD_CLIENT_ID=${credentials.clientId}
    BEARERD_CLIENT_SECRET=${credentials.clientSecret}
    BEARERD_API_KEY=${credentials.apiKey}

  or a user instead of the service account:

    BEARERD_USERNAME=${credentials.username}
    BEARERD_PASSWORD=${credentials.password}

  How it behaves:  curl -s ${url}/__mock      Change it:  curl -s ${url}/__mock -d login=down
  Ctrl-C stops it.

`;
}
