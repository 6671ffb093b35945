import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { LoginError } from '../../src/base/login-error.ts';
import { Secret } from '../../src/base/secret.ts';
import { createOAuth2Login } from '../../src/login/oauth2-endpoint.ts';
import { createSessionLogin } from '../../src/login/session-endpoint.ts';
import { loginServer } from '../support/login-server.ts';
import { loginAnswerOf, type ScriptedAnswer } from './answer-grammar.ts';
import { canary, leaks } from './canaries.ts';
import { Chance } from './chance.ts';
import { Run, startGateway } from './harness.ts';
import { SECRETS, SESSION_PATH } from './judge.ts';
import { play } from './play.ts';

// Answers of session and token endpoints: each gives a token that can be sent, or a LoginError of a known kind that
// quotes neither the answer nor a secret. One in some is the answer to a whole gateway. The count is that of answers.

const LOGINS = 64;
const GATEWAY_ODDS = 0.01;
const KINDS = new Set(['unreachable', 'server-error', 'rate-limited', 'unusable', 'redirected', 'refused']);
/** As a header can hold it. */
const SENDABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

const run = new Run();
const scripts = new Map<string, ScriptedAnswer>();
const server = createServer({ noDelay: true }, (socket: Socket) => {
  let text = '';
  socket
    .on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const seed = /^POST \/(\d+)[/ ]/.exec(text)?.[1];
      const length = /content-length: (\d+)/i.exec(text)?.[1];
      const end = text.indexOf('\r\n\r\n');
      if (end === -1 || text.length < end + 4 + Number(length ?? 0)) return;
      const script = scripts.get(seed ?? '');
      if (seed === undefined) run.fault(`no login: ${text}`);
      else if (script === undefined)
        socket.destroy(); // A gateway tries again as it is ended.
      else void play(script, socket);
      text = '';
    })
    .on('error', () => {});
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const grants = [
  {
    kind: 'service-account',
    clientId: new Secret(SECRETS.clientId),
    clientSecret: new Secret(SECRETS.clientSecret),
  },
  { kind: 'user', username: new Secret(SECRETS.username), password: new Secret(SECRETS.password) },
] as const;

function loginTo(path: string, chance: Chance) {
  const endpoint = { server: loginServer(origin), path, timeoutMs: 250 };
  if (chance.odds(0.7)) return createSessionLogin(endpoint, chance.pick(grants), systemClock);
  return createOAuth2Login(
    { at: async () => endpoint.server, timeoutMs: endpoint.timeoutMs },
    {
      kind: 'oauth2',
      name: 'x',
      origins: [origin],
      header: 'Authorization',
      scheme: 'Bearer',
      tokenEndpoint: { origin, path },
      clientId: new Secret(SECRETS.clientId),
      clientSecret: new Secret(SECRETS.clientSecret),
      clientAuthentication: chance.pick(['basic', 'body']),
      parameters: { key: new Secret(SECRETS.apiKey) },
    },
    systemClock,
  );
}

async function alone(seed: number, chance: Chance): Promise<void> {
  try {
    const issued = await loginTo(`/${seed}`, chance)(new AbortController().signal);
    if (!SENDABLE.test(issued.token.expose()))
      run.fault(`no header can hold ${JSON.stringify(issued.token.expose())}`, seed);
    if (!(issued.lifetimeMs > 0)) run.fault(`a lifetime of ${issued.lifetimeMs} ms`, seed);
    if (leaks(issued.warnings.join())) run.fault(`a secret in ${issued.warnings.join()}`, seed);
    run.note('tokens');
  } catch (error) {
    if (!(error instanceof LoginError) || !KINDS.has(error.code)) throw error;
    run.note(error.code);
    if (leaks(error.message)) run.fault(`a message with a secret: ${error.message}`, seed);
  }
}

/** The whole proxy asks, and a client gets an answer in time, whatever comes of it. */
async function withGateway(seed: number): Promise<void> {
  const yaml = JSON.stringify({
    baseUrl: `${origin}/${seed}`,
    credentials: {
      token: { type: 'session', clientId: SECRETS.clientId, clientSecret: SECRETS.clientSecret },
    },
  });
  const { gateway, port, adminPort } = await startGateway(run, yaml, { BEARERD_TOKEN_WAIT: '200ms' });
  const urls = [
    `http://127.0.0.1:${port}${SESSION_PATH}`,
    `http://127.0.0.1:${adminPort}/status`,
    `http://127.0.0.1:${adminPort}/metrics`,
  ];
  const wanted = [403, 200, 200];
  await sleep(20);
  for (const [n, url] of urls.entries()) {
    const answer = await fetch(url);
    if (leaks(await answer.text())) run.fault(`a secret at ${url}`, seed);
    if (answer.status !== wanted[n]) run.fault(`${url} gives ${answer.status}`, seed);
  }
  await gateway.destroy();
  run.note('gateways');
}

await run.all(LOGINS, async (seed) => {
  const chance = new Chance(seed);
  scripts.set(String(seed), loginAnswerOf(chance, canary(`-token-${seed}`)));
  run.sent++;
  if (chance.odds(GATEWAY_ODDS)) await withGateway(seed);
  else await alone(seed, chance);
  scripts.delete(String(seed));
  run.answered++;
});
server.close();
await sleep(50); // The log is written asynchronously.
run.report();
