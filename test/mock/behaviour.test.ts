import t from 'tap';
import { UsageError } from '../../src/base/errors.ts';
import { DATA_MODES, LOGIN_MODES, parseBehaviour } from '../../src/mock/behaviour.ts';
import { logIn, startedFor } from './fixtures/client.ts';

t.test('parseBehaviour reads the form of the command line', async (t) => {
  t.same(parseBehaviour('login=slow,tokenLifetime=3s'), { login: 'slow', tokenLifetimeMs: 3_000 });
  t.same(parseBehaviour(' data = down , dataDelay=1.5m,loginDelay=500ms, retryAfter=5'), {
    data: 'down',
    dataDelayMs: 90_000,
    loginDelayMs: 500,
    retryAfter: '5',
  });
  t.same(parseBehaviour('retryAfter='), { retryAfter: '' });
  for (const login of LOGIN_MODES) t.same(parseBehaviour(`login=${login}`), { login });
  for (const data of DATA_MODES) t.same(parseBehaviour(`data=${data}`), { data });
});

t.test('parseBehaviour names the fault and what would be right', async (t) => {
  const cases: [text: string, message: RegExp][] = [
    ['', /must be NAME=VALUE; names: login, data/],
    ['login', /"login" must be NAME=VALUE/],
    ['login=ok,', /must be NAME=VALUE/],
    [
      'logn=ok',
      /unknown setting "logn"; valid: login, data, loginDelay, dataDelay, retryAfter, tokenLifetime/,
    ],
    ['constructor=ok', /unknown setting/],
    ['login=dwon', /login: "dwon" must be one of ok, slow, .*forbid-403/],
    ['data=refuse-401', /data: "refuse-401" must be one of ok, slow, .*forbidden/],
    ['tokenLifetime=3', /tokenLifetime: "3" must be a duration such as/],
    ['loginDelay=-1s', /loginDelay: "-1s" must be a duration/],
    ['tokenLifetime=999999d', /must be a duration/],
    ['retryAfter=ä', /retryAfter: "ä" must be/],
  ];
  for (const [text, message] of cases) {
    t.throws(() => parseBehaviour(text), { message }, text);
    t.throws(() => parseBehaviour(text), UsageError);
  }
});

t.test('behave refuses unknown settings and changes nothing', async (t) => {
  const mock = await startedFor(t);
  t.throws(() => mock.behave({ login: 'down', data: 'nope' as 'ok', tokenLifetimeMs: Number.NaN }), {
    message: /^data: "nope" must be one of .*; tokenLifetimeMs: null must be a number/,
  });
  t.equal((await logIn(mock)).status, 200);
});
