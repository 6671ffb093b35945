import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { KNOWN_VARIABLES } from '../../src/config/declaration/settings.ts';
import { loadConfig } from '../../src/config/load.ts';
import { environmentSchema } from '../../src/config/reading/environment.ts';
import { FILE_KEYS, fileSchema } from '../../src/config/sections/file.ts';
import { settingsTable, TABLE_BEGIN, TABLE_END } from './settings-table.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLES = readdirSync(join(ROOT, 'config'));
const readExample = (name: string) => readFileSync(join(ROOT, 'config', name), 'utf8');
const validate = new Ajv({ allErrors: true }).compile(fileSchema());

t.test('the settings table in the docs equals the generated one', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/configuration.md'), 'utf8');
  t.equal(page.slice(page.indexOf(TABLE_BEGIN), page.indexOf(TABLE_END) + TABLE_END.length), settingsTable());
});

t.test('the table names every setting of the contract', async (t) => {
  const names =
    'BASE_URL UPSTREAM_ADDRESS LISTEN_TLS_CERT_FILE LISTEN_TLS_KEY_FILE SESSION_PATH CLIENT_ID CLIENT_SECRET USERNAME PASSWORD API_KEY ROUTES LISTEN ADMIN_LISTEN PROBES_LISTEN ALLOWED_HOSTS BROWSER_COOKIES ' +
    'ALLOWED_ORIGINS CALLER_KEY TOKEN_WAIT RENEW_AFTER CONNECT_TIMEOUT RESPONSE_TIMEOUT IDLE_TIMEOUT MAX_CONNECTIONS MAX_WAITING ' +
    'MAX_HEADER_SIZE DRAIN_TIMEOUT SHUTDOWN_DELAY LOG_LEVEL LOG_FORMAT REQUEST_ID_HEADER TLS_CA_FILE TLS_CERT_FILE TLS_KEY_FILE CONFIG ALLOW_INSECURE_UPSTREAM ' +
    'ALLOW_REMOTE_CALLERS UPSTREAM_HTTP2 CLOSE_TUNNELS SCRUB SHARE_URL SHARE_URL_FILE SHARE_PREFIX SHARE_KEY SHARE_KEY_FILE CLIENT_ID_FILE CLIENT_SECRET_FILE USERNAME_FILE PASSWORD_FILE API_KEY_FILE CALLER_KEY_FILE ' +
    'CLIENT_ID_COMMAND CLIENT_SECRET_COMMAND USERNAME_COMMAND PASSWORD_COMMAND API_KEY_COMMAND CALLER_KEY_COMMAND SHARE_URL_COMMAND SHARE_KEY_COMMAND';
  t.same(
    [...KNOWN_VARIABLES].sort(),
    names
      .split(' ')
      .map((name) => `BEARERD_${name}`)
      .sort(),
  );
  for (const name of KNOWN_VARIABLES) t.ok(settingsTable().includes(`\`${name}\``), name);
});

t.test(
  'the environment schema has a description for every variable, and is a new object each time',
  async (t) => {
    const schema = environmentSchema();
    t.not(schema, environmentSchema());
    const properties = schema.properties as Record<string, { type: string; description: string }>;
    t.same(Object.keys(properties).sort(), [...KNOWN_VARIABLES, 'BEARERD_URL'].sort());
    for (const [name, property] of Object.entries(properties))
      t.match(property, { type: 'string', description: /\w/ }, name);
  },
);

t.test('every example is valid by the schema, and loads with the environment in its comment', async (t) => {
  t.ok(EXAMPLES.length >= 3);
  t.notOk(EXAMPLES.includes('bearerd.yaml'), 'no example has a default name');
  for (const name of EXAMPLES) {
    const text = readExample(name);
    const comment = text.slice(0, text.search(/^[^#\n]/m));
    const env = Object.fromEntries(
      [...comment.matchAll(/^# {3}([A-Z_]+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]),
    );
    const files = new Map(
      [...comment.matchAll(/^# {3}(\/\S+)$/gm)].map(([, path = '']) => [path, `content of ${path}\n`]),
    );
    const configFile = join(ROOT, 'config', name);
    const readFile = (path: string): string => {
      const content = path === configFile ? text : files.get(path);
      if (content === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
      return content;
    };
    const config = await loadConfig({ env, readFile, configFile, cwd: '/' });
    t.same([...config.watchedFiles], [...files.keys()], name);
    t.ok(validate(parse(text)), `${name}: ${JSON.stringify(validate.errors)}`);
  }
});

t.test('the annotated example has every key', async (t) => {
  const text = readExample('bearerd.example.yaml');
  for (const key of FILE_KEYS) t.match(text, new RegExp(`^[# ]*${key.split('.').at(-1)}:`, 'm'), key);
});

t.test('the annotated example shows the defaults', async (t) => {
  const example = parse(readExample('bearerd.example.yaml'));
  const properties = fileSchema().properties as Record<
    string,
    { default?: unknown; properties?: Record<string, { default?: unknown }> }
  >;
  const one = (value: unknown) => (Array.isArray(value) && value.length === 1 ? value[0] : value);
  for (const [key, schema] of Object.entries(properties)) {
    if (schema.default !== undefined) t.same(one(example[key]), one(schema.default), key);
    for (const [inner, { default: preset }] of Object.entries(schema.properties ?? {})) {
      if (preset !== undefined) t.same(one(example[key][inner]), one(preset), `${key}.${inner}`);
    }
  }
});

t.test('the file schema refuses what the loader refuses', async (t) => {
  const good = {
    baseUrl: 'https://api.example.com',
    credentials: { a: { type: 'apiKey', key: { file: 'x' } } },
    routes: [{ prefix: '/', credential: 'a' }],
  };
  const oauth2 = { type: 'oauth2', tokenUrl: 'https://login.example', clientId: 'x', clientSecret: 'y' };
  const everything = {
    clientAuthentication: 'body',
    scope: 'a',
    audience: 'b',
    parameters: { c: { env: 'D' } },
  };
  const exec = { type: 'exec', command: ['op', 'read', ''], timeout: '1s' };
  for (const a of [good.credentials.a, oauth2, { ...oauth2, ...everything }, exec]) {
    t.ok(validate({ ...good, credentials: { a } }), JSON.stringify(validate.errors));
  }
  for (const bad of [
    { ...good, sesion: {} },
    { ...good, session: { tokenwait: '1s' } },
    { ...good, session: { tokenWait: 10 } },
    { ...good, limits: { connections: 0 } },
    { ...good, log: { level: 'loud' } },
    { ...good, routes: [] },
    { ...good, routes: [{ prefix: '/' }] },
    { ...good, routes: [{ prefix: '/', credential: 'a', clientAuthorization: 'x' }] },
    { ...good, credentials: { none: { type: 'apiKey', key: 'x' } } },
    { ...good, credentials: { '1': { type: 'apiKey', key: 'x' } } },
    { ...good, credentials: { a: { type: 'session', clientId: 'x', password: 'y' } } },
    { ...good, credentials: { a: { type: 'apiKey', key: { env: 'X', file: 'x' } } } },
    { ...good, callerKey: '' },
    { ...good, credentials: { a: { ...oauth2, tokenUrl: 'login.example' } } },
    { ...good, credentials: { a: { ...oauth2, clientId: undefined } } },
    { ...good, credentials: { a: { ...oauth2, clientAuthentication: 'header' } } },
    { ...good, credentials: { a: { ...oauth2, parameters: { scope: 'x' } } } },
    { ...good, credentials: { a: { ...oauth2, parameters: { x: 1 } } } },
    { ...good, credentials: { a: { type: 'exec' } } },
    { ...good, credentials: { a: { type: 'exec', command: [] } } },
    { ...good, credentials: { a: { type: 'exec', command: 'op read x' } } },
    { ...good, credentials: { a: { type: 'exec', command: ['op'], timeout: 10 } } },
    { ...good, credentials: { a: { type: 'exec', command: ['op'], clientId: 'x' } } },
  ]) {
    t.notOk(validate(bad), JSON.stringify(bad));
  }
});
