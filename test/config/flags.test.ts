import t from 'tap';
import { FLAGS } from '../../src/config/declaration/flags.ts';
import { KNOWN_VARIABLES, SECRET_SETTINGS } from '../../src/config/declaration/settings.ts';
import { CWD, faultsOf, LEAST, loadFrom } from './load-from.ts';

t.test('each setting has a flag of its name; a secret has only a flag for its file', async (t) => {
  const variables = FLAGS.map(({ variable }) => variable);
  const none = SECRET_SETTINGS.flatMap(({ variable }) => [variable, `${variable}_COMMAND`]);
  const expected = KNOWN_VARIABLES.filter((name) => name !== 'BEARERD_CONFIG' && !none.includes(name));
  t.same([...variables].sort(), [...expected].sort());
  for (const { name, variable } of FLAGS) {
    t.equal(`BEARERD_${name.toUpperCase().replaceAll('-', '_')}`, variable);
  }
  t.equal(new Set(FLAGS.map(({ name }) => name)).size, FLAGS.length);
});

t.test(
  'a flag wins over the variable, the variable over .env, .env over the file, the file over the default',
  async (t) => {
    const file = { [`${CWD}/bearerd.yaml`]: 'session: { tokenWait: 4s }' };
    const dotEnv = { [`${CWD}/.env`]: 'BEARERD_TOKEN_WAIT=3s' };
    const env = { ...LEAST, BEARERD_TOKEN_WAIT: '2s' };
    const flags = { BEARERD_TOKEN_WAIT: '1s' };
    const waitOf = async (world: Parameters<typeof loadFrom>[0]) => (await loadFrom(world)).tokenWaitMs;
    t.equal(await waitOf({ flags, env, files: { ...file, ...dotEnv } }), 1000);
    t.equal(await waitOf({ env, files: { ...file, ...dotEnv } }), 2000);
    t.equal(await waitOf({ files: { ...file, ...dotEnv } }), 3000);
    t.equal(await waitOf({ files: file }), 4000);
    t.equal(await waitOf({}), 10_000);
  },
);

t.test('a fault names the flag that gave the value, also for an empty value', async (t) => {
  const env = { ...LEAST, BEARERD_LOG_LEVEL: 'info' };
  const flags = { BEARERD_TOKEN_WAIT: '10', BEARERD_LOG_LEVEL: '', BEARERD_ROUTES: '/=tokn' };
  const faults = await faultsOf({ env, flags });
  t.match(faults[0], /^--log-level: /);
  t.match(faults[1], /^--routes: entry 1: .*did you mean "?token/);
  t.equal(faults[2], '--token-wait: has no unit; write 10s');
  t.equal(faults.length, 3);
});

t.test('a flag with a secret file wins over the variable that holds the secret', async (t) => {
  const files = { '/run/key': 'from-the-file\n' };
  const env = { ...LEAST, BEARERD_API_KEY: 'from-the-variable' };
  const config = await loadFrom({ env, files, flags: { BEARERD_API_KEY_FILE: '/run/key' } });
  const credential = config.credentials.get('apiKey');
  t.equal(credential?.kind === 'api-key' && credential.key.expose(), 'from-the-file');
});

t.test('.env cannot set the destination of a secret from a flag, and a flag can', async (t) => {
  const files = {
    '/run/s': 's3cret',
    [`${CWD}/.env`]: 'BEARERD_BASE_URL=https://evil.example\nBEARERD_CLIENT_ID=x',
  };
  const flags = { BEARERD_CLIENT_SECRET_FILE: '/run/s' };
  t.match(
    (await faultsOf({ env: {}, files, flags })).join('\n'),
    /BEARERD_BASE_URL: stands in \.env, which may not decide/,
  );
  const own = { ...flags, BEARERD_BASE_URL: 'https://api.example.com' };
  t.equal((await loadFrom({ env: {}, files, flags: own })).upstream.origin, 'https://api.example.com');
});
