import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { withRenewedSecrets } from '../../src/app/renewed-secrets.ts';
import { LoginError, type LoginFailure } from '../../src/base/login-error.ts';
import { createTokenSource } from '../../src/library/index.ts';
import { mockFor } from '../support/mock.ts';

// Secrets from commands after a refused login. The tests record `login` and `renew` in order.

function course(...ends: (LoginFailure | 'ok')[]) {
  const told: string[] = [];
  const login = withRenewedSecrets(
    async () => {
      told.push('login');
      const end = ends.shift() ?? 'ok';
      if (end !== 'ok') throw new LoginError(end, 'for the test');
      return { notYetMs: 1 };
    },
    async () => {
      told.push('renew');
    },
  );
  const logIn = async (signal = new AbortController().signal) => {
    await login(signal, 0).catch(() => told.push('failed'));
  };
  return { told, logIn };
}

t.test('commands run after the first refusal, and before each further try', async (t) => {
  const { told, logIn } = course('refused', 'refused', 'ok', 'ok');
  for (let i = 0; i < 4; i++) await logIn();
  t.same(told, ['login', 'renew', 'failed', 'renew', 'login', 'failed', 'renew', 'login', 'login']);
});

t.test('commands do not run after a failure that is no refusal', async (t) => {
  const { told, logIn } = course('unreachable', 'rate-limited', 'server-error', 'ok');
  for (let i = 0; i < 4; i++) await logIn();
  t.notOk(told.includes('renew'));
});

t.test('an abandoned login does not wait for a command', async (t) => {
  const abort = new AbortController();
  const login = withRenewedSecrets(
    async () => {
      throw new LoginError('refused', 'for the test');
    },
    () => new Promise(() => abort.abort()),
  );
  await t.rejects(login(abort.signal, 0), { code: 'refused' });
  await t.rejects(login(abort.signal, 0), { code: 'refused' });
});

t.test('a secret that has changed at the server and in its store is used after one refusal', async (t) => {
  const api = await mockFor(t);
  const { clientId, clientSecret } = api.credentials;
  const dir = t.testdir({ secret: clientSecret, runs: '' });
  const script = `echo run >>${dir}/runs; if [ $(wc -l <${dir}/runs) -gt 1 ]; then cat ${dir}/secret; else echo old; fi`;
  const unrelated = `echo run >>${dir}/unrelated; echo x`;
  const source = await createTokenSource({
    baseUrl: api.url,
    session: { tokenWait: '60s' },
    credentials: {
      token: { type: 'session', clientId, clientSecret: { command: ['sh', '-c', script], timeout: '60s' } },
      other: { type: 'apiKey', key: { command: ['sh', '-c', unrelated] } },
    },
  });
  t.teardown(() => source.close());
  const { value } = await source.token();
  t.equal((await fetch(`${api.url}/echo`, { headers: { authorization: `Bearer ${value}` } })).status, 200);
  const runs = (name: string) => readFileSync(join(dir, name), 'utf8').split('\n').length - 1;
  t.equal(runs('runs'), 2);
  t.equal(runs('unrelated'), 1, 'the command of another credential does not run');
  source.invalidate(value);
  await source.token();
  t.equal(runs('runs'), 2, 'no command runs for a request');
});
