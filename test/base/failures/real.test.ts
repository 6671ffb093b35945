import t, { type Test } from 'tap';
import { ANSWER_FAILURES, type AnswerFailure } from '../../../src/base/failures/login-words.ts';
import { CONNECTION_FAILURES, type ConnectionFailure } from '../../../src/base/failures/words.ts';
import type { LoginError } from '../../../src/base/login-error.ts';
import { BROKEN_SERVERS, plain } from '../../support/broken-servers.ts';
import { connectProxy, refusal } from '../../support/connect-proxy.ts';
import { gatewayFor } from '../../support/gateway.ts';
import { until } from '../../support/raw-client.ts';

// Each failure really happens. The login, the status and the answer to a request must report it in the words of the
// one table.

/** How a login at this base URL fails. The status must say the same, and the 502 the constant part of it. */
async function failedLogin(t: Test, baseUrl: string, env: Record<string, string> = {}) {
  const secrets = { BEARERD_ALLOW_INSECURE_UPSTREAM: 'true', BEARERD_ADMIN_LISTEN: '127.0.0.1:0' };
  const yaml =
    'credentials: { key: { type: apiKey, key: k } }\nroutes: [{ prefix: /t, credential: token }, { prefix: /k, credential: key }]';
  const { gateway, events, get } = await gatewayFor(t, {
    baseUrl,
    yaml,
    env: { ...secrets, ...env },
    loggedIn: false,
  });
  await until(() => events.some(({ type }) => type === 'login-failed'), 'the login does not fail');
  const error = events.flatMap((e) => (e.type === 'login-failed' ? [e.error] : []))[0] as LoginError;
  t.equal(gateway.status.credentials.token?.lastFailure?.message, error.message, 'the status says the same');
  const response = await get('/k');
  return { error, response, events };
}

for (const [failure, arrange] of Object.entries(BROKEN_SERVERS)) {
  t.test(
    `a login that fails with ${failure} says so in the words of the table, with the URL and a remedy`,
    async (t) => {
      const { baseUrl, env, says } = await arrange(t);
      const { error, response, events } = await failedLogin(t, baseUrl, env);
      const words = CONNECTION_FAILURES[failure as ConnectionFailure];
      t.ok(
        error.message.startsWith(`the session endpoint ${baseUrl}/api/identity/v1/session `),
        error.message,
      );
      t.ok(says?.test(error.message) ?? error.message.includes(`session ${words.what} (`), error.message);
      t.ok(error.message.endsWith(words.remedy), error.message);
      if (failure === 'closed') return; // By then a request has its answer's head already.
      const { detail } = JSON.parse(response.text);
      t.equal(detail, `The upstream ${CONNECTION_FAILURES[failureOfRequest(failure)].what}.`);
      t.match(
        events.find(({ type }) => type === 'upstream-failed'),
        { detail, remedy: CONNECTION_FAILURES[failureOfRequest(failure)].remedy },
        'the log says the same',
      );
    },
  );
}

/** Only a login says that a port may speak TLS: requests go to a server where a login has succeeded. */
function failureOfRequest(failure: string): ConnectionFailure {
  return failure === 'http-on-tls-port' ? 'closed' : (failure as ConnectionFailure);
}

t.test('if the outbound proxy fails, the error of the login names it', async (t) => {
  const proxy = await connectProxy(t, 1, { answer: refusal(407) });
  const { error } = await failedLogin(t, 'https://api.example.com', { HTTPS_PROXY: `http://${proxy.host}` });
  t.match(error.message, `the outbound proxy ${proxy.host} asks for a user name and a password`);
  t.ok(error.message.endsWith(CONNECTION_FAILURES['outbound-proxy'].remedy));
});

const statuses: Record<number, AnswerFailure> = {
  400: 'bad-request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'no-such-place',
  405: 'no-such-place',
  302: 'redirected',
  429: 'rate-limited',
  500: 'server-error',
  200: 'no-token',
};

t.test(
  'for each answer that is not a login, the error has the words of the table, the URL and a remedy',
  async (t) => {
    for (const [status, failure] of Object.entries(statuses)) {
      const baseUrl = await plain(t, (_request, response) =>
        response.writeHead(Number(status)).end('<html>'),
      );
      const { error } = await failedLogin(t, baseUrl);
      const { what, remedy, login } = ANSWER_FAILURES[failure];
      t.ok(
        error.message.startsWith(`the session endpoint ${baseUrl}/api/identity/v1/session ${what} (`),
        error.message,
      );
      t.ok(error.message.endsWith(remedy), error.message);
      t.equal(error.code, login, status);
    }
  },
);

t.test(
  'the error for refused credentials says what looks wrong with them, and shows no part of them',
  async (t) => {
    const baseUrl = await plain(t, (_request, response) => response.writeHead(401).end());
    const odd: Record<string, RegExp> = {
      'hush-hush ': /Note: the client secret ends with white space\.$/,
      '"hush-hush"': /Note: the client secret stands in quotes\.$/,
      'Bearer hush-hush': /Note: the client secret begins with "Bearer "\.$/,
      ' hush-hush': /Note: the client secret begins with white space\.$/,
    };
    for (const [secret, words] of Object.entries(odd)) {
      const { error } = await failedLogin(t, baseUrl, { BEARERD_CLIENT_SECRET: secret });
      t.match(error.message, words);
      t.notMatch(error.message, /hush/);
    }
  },
);
