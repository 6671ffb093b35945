import { readdirSync, readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { ConfigError, ConfigFileError } from '../../src/base/config-error.ts';
import { loadConfig } from '../../src/config/load.ts';
import { canary, leaks } from './canaries.ts';
import { Chance, mutate } from './chance.ts';
import { Run } from './harness.ts';

// Configuration files, variables and secret files: each gives a configuration that shows no secret, or a ConfigError
// whose faults have names and show none either. The count is that of loads.

const run = new Run();
const folder = new URL('../../config/', import.meta.url);
const EXAMPLES = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
const DURATIONS = ['10s', '0s', '-1s', '1', '1e9h', 'off', '', '9999999h', '1.5s', '٣s'];
const ODD = [
  '',
  ' ',
  'true',
  '0',
  '-1',
  '[]',
  '{}',
  '~',
  '*x',
  '&a',
  '!!js/function x',
  '"',
  '\ufeff',
  '\0',
  '%',
  'é',
  '../../etc',
  '9'.repeat(400),
];

/** A secret's bytes, as they may stand in a file. */
function secretBytes(chance: Chance): Buffer {
  const secret = Buffer.from(canary(`-${chance.below(1000)}`));
  const ending = chance.pick(['', '\n', '\r\n', '\n\n', ' ', '\0', '\r']);
  const bytes = Buffer.concat([secret, Buffer.from(ending)]);
  switch (chance.below(6)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return Buffer.from(chance.pick(['\n', '\r\n', ' ', '\ufeff', '\xff']), 'latin1');
    case 2:
      return Buffer.concat([
        Buffer.from(chance.pick([[0xff, 0xfe], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0]])),
        bytes,
      ]);
    case 3:
      return Buffer.alloc(1 + chance.below(200_000), secret);
    default:
      return bytes;
  }
}

/** A file that is right, or has been edited in a hurry. Secrets are by reference, but for some. */
function configurationOf(chance: Chance): string {
  let lines = chance
    .pick(EXAMPLES)
    .split('\n')
    .filter((line) => !/^\s*(?:#|$)/.test(line));
  for (let n = chance.below(5); n > 0 && lines.length > 0; n--) {
    const at = chance.below(lines.length);
    const line = lines[at]!;
    const colon = line.indexOf(': ');
    const edit = chance.below(7);
    if (edit === 0) lines.splice(at, 1);
    else if (edit === 1) lines.splice(chance.below(lines.length), 0, line);
    else if (edit === 2 && colon !== -1)
      lines[at] = `${line.slice(0, colon)}: ${chance.pick([...ODD, ...DURATIONS])}`;
    else if (edit === 3) lines[at] = ` ${line}`;
    else if (edit === 4)
      lines[at] = line.replace(/[a-z]/, (letter) =>
        chance.pick(['x', letter + letter, letter.toUpperCase()]),
      );
    else if (edit === 5) lines = lines.slice(0, at + 1);
    else lines[at] = mutate(Buffer.from(line), chance, 1).toString('utf8');
  }
  const text = lines.join('\n');
  const bold = chance.pick([0, 0.05, 0.5]);
  // What stands in place of a reference is a secret: nothing of such a line is shown.
  return text.replace(/\{ (?:env|file): [^}]*\}/g, (reference) =>
    chance.mostly(reference, bold, [
      canary('-in-file'),
      `"${canary('-"quoted')}`,
      `{${canary('-flow')}}`,
      `[${canary('-list')}]`,
      `{ file: /secret }`,
      `'${canary('')}`,
      `!!binary ${canary('')}`,
      `|\n${canary('')}`,
    ]),
  );
}

const VARIABLES = [
  'BASE_URL',
  'SESSION_PATH',
  'ROUTES',
  'LISTEN',
  'ADMIN_LISTEN',
  'ALLOWED_HOSTS',
  'ALLOWED_ORIGINS',
  'TOKEN_WAIT',
  'RENEW_AFTER',
  'MAX_CONNECTIONS',
  'MAX_HEADER_SIZE',
  'LOG_LEVEL',
  'TLS_CA_FILE',
  'IDLE_TIMEOUT',
  'BROWSER_COOKIES',
  'XYZ',
];
const SECRET_VARIABLES = ['CLIENT_ID', 'CLIENT_SECRET', 'USERNAME', 'PASSWORD', 'API_KEY', 'CALLER_KEY'];

function environmentOf(chance: Chance): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of [
    'SERVICE_ACCOUNT_ID',
    'SERVICE_ACCOUNT_SECRET',
    'REPORTS_PASSWORD',
    'API_KEY',
    'PARTNER_CLIENT_ID',
    'PARTNER_CLIENT_SECRET',
  ])
    if (chance.odds(0.98)) env[name] = canary(`-${name}`);
  for (const name of chance.some(VARIABLES, chance.pick([0, 0, 3]))) {
    const usual = chance.pick([
      'https://a.example',
      '/api=token,/x=deny',
      'localhost:1',
      '10s',
      '32KiB',
      'unix:/x',
      'off',
      '*.example',
    ]);
    env[`BEARERD_${name}`] = chance.odds(0.5)
      ? mutate(Buffer.from(usual), chance).toString('utf8')
      : chance.pick(ODD);
  }
  for (const name of chance.some(SECRET_VARIABLES, chance.pick([0, 0, 3]))) {
    if (chance.odds(0.4))
      env[`BEARERD_${name}_FILE`] = chance.mostly('/secret', 0.2, ['', ' ', '/missing', '/folder']);
    else env[`BEARERD_${name}`] = mutate(Buffer.from(canary(`-${name}`)), chance).toString('utf8');
  }
  return env;
}

async function one(seed: number): Promise<void> {
  const chance = new Chance(seed);
  const yaml = chance.odds(0.8) ? configurationOf(chance) : undefined;
  const env = environmentOf(chance);
  const secret = secretBytes(chance);
  run.sent++;
  const said = () => JSON.stringify({ env, secret: secret.toString('latin1').slice(0, 200), yaml });
  const readFile = (path: string): string => {
    if (path === '/work/bearerd.yaml' && yaml !== undefined) return yaml;
    if (path === '/secret') return secret.toString('utf8'); // As a file is read.
    throw Object.assign(new Error(path), { code: path === '/folder' ? 'EISDIR' : 'ENOENT' });
  };
  const begun = performance.now();
  try {
    const config = await loadConfig({ env, readFile, cwd: '/work' });
    run.note('configurations');
    const shown = inspect(config, { depth: 20 }) + JSON.stringify(config.effective);
    if (leaks(shown)) run.fault(`a configuration shows a secret: ${said()}`, seed);
  } catch (error) {
    if (error instanceof ConfigFileError) return void run.answered++;
    if (!(error instanceof ConfigError)) throw new Error(said(), { cause: error });
    run.note('refused');
    const nameless = error.faults.some(({ key, problem }) => key === '' || problem === '');
    if (nameless || error.faults.length === 0) run.fault(`a fault without a name: ${said()}`, seed);
    if (leaks(inspect(error, { depth: 20 })))
      run.fault(`a fault shows a secret: ${error.message} ${said()}`, seed);
  }
  const tookMs = performance.now() - begun;
  if (tookMs > 5_000) run.fault(`took ${Math.round(tookMs)} ms: ${said()}`, seed);
  run.answered++;
}

await run.all(4, one);
run.report();
