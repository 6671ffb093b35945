import { execFile, spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { bundle } from '../scripts/bundle.ts';
import { compilerPath } from '../scripts/compiler.ts';
import { emitTypes } from '../scripts/types.ts';
import { startMockApi } from '../src/mock/mock-api.ts';
import { saidBy } from './support/internal-errors.ts';
import { happens, until } from './support/raw-client.ts';

// The tarball as users get it: packed, installed in an empty folder without a network, and run.

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MOST_PACKAGES = 5;
const MOST_BYTES = 6_000_000;

const work = t.testdir({
  staged: {},
  user: { 'package.json': '{"name":"user","type":"module","private":true}' },
});
const staged = join(work, 'staged');
const user = join(work, 'user');
const installed = join(user, 'node_modules/bearerd');

interface Manifest {
  readonly files: readonly string[];
  readonly dependencies?: object;
}
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

function npm(cwd: string, ...args: string[]): void {
  const quiet = ['--ignore-scripts', '--offline', '--no-audit', '--no-fund', '--cache', join(work, 'cache')];
  const { status, stderr } = spawnSync('npm', [...args, ...quiet], {
    cwd,
    encoding: 'utf8',
    timeout: 300_000,
  });
  if (status !== 0) throw new Error(`npm ${args[0]}: ${stderr}`);
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
}

t.before(async () => {
  for (const name of [...manifest.files, 'package.json', 'README.md', 'LICENSE'])
    if (name !== 'dist') cpSync(join(ROOT, name), join(staged, name), { recursive: true });
  await bundle(join(staged, 'dist'));
  await emitTypes(join(staged, 'dist/types'));
  npm(staged, 'pack', '--pack-destination', work);
  const tarball = readdirSync(work).find((name) => name.endsWith('.tgz'))!;
  npm(user, 'install', join(work, tarball));
});

t.test(`an installed bearerd is at most ${MOST_PACKAGES} packages and 6 MB`, async (t) => {
  const packages = filesIn(join(user, 'node_modules')).filter((name) => /(?:^|\/)package\.json$/.test(name));
  t.ok(packages.length <= MOST_PACKAGES, packages.join());
  const bytes = filesIn(join(user, 'node_modules')).reduce(
    (sum, name) => sum + statSync(join(user, 'node_modules', name)).size,
    0,
  );
  t.ok(bytes <= MOST_BYTES, `${bytes} bytes`);
});

t.test("each link in the package's documents leads to a file in the package", async (t) => {
  const files = new Set(filesIn(installed));
  const folders = new Set([...files].map(dirname));
  const broken: string[] = [];
  for (const file of [...files].filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(installed, file), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(link)) continue;
      const target = normalize(join(dirname(file), link)).replace(/\/$/, '');
      if (
        !files.has(target) &&
        ![...folders].some((folder) => folder === target || folder.startsWith(`${target}/`))
      )
        broken.push(`${file} → ${link}`);
    }
  }
  t.same(broken, []);
});

t.test(
  'the package holds the program, licences, bill of materials and examples, and no sources or tests',
  async (t) => {
    const files = filesIn(installed);
    for (const name of [
      'LICENSE',
      'dist/THIRD-PARTY.txt',
      'dist/sbom.cdx.json',
      'deploy/systemd/bearerd.service',
      'config/bearerd.example.yaml',
      'docs/library.md',
    ])
      t.ok(files.includes(name), name);
    t.same(
      files.filter((name) => /^(?:src|test|scripts|bench)\//.test(name)),
      [],
    );
  },
);

t.test('the installed program runs', async (t) => {
  t.ok(statSync(join(user, 'node_modules/.bin/bearerd')).mode & 0o100);
  const config = join(installed, 'config/bearerd.example.yaml');
  for (const [args, pattern] of [
    [['--version'], /\d+\.\d+\.\d+/],
    [['schema'], /bearerd configuration file/],
    [['check', '--config', config], /./],
  ] as const) {
    const main = join(installed, 'dist/main.js');
    const { stdout, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', cwd: user });
    t.match(stdout + stderr, pattern);
    t.notMatch(stderr, /ERR_|Cannot find/);
  }
});

t.test(
  'with only Node on the PATH the installed program runs the demo and checks a configuration',
  async (t) => {
    // Only the folder of this Node is on the PATH; under test:all that is the lowest supported one.
    const env = {
      PATH: dirname(process.execPath),
      HOME: user,
      BEARERD_LISTEN: '127.0.0.1:0',
      BEARERD_ADMIN_LISTEN: 'off',
    };
    const program = join(user, 'node_modules/.bin/bearerd');
    const demo = spawn(program, ['demo', '--log-format', 'json'], {
      env,
      cwd: user,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const output = saidBy(t, demo);
    await until(() => /logged in/.test(output()), 'the demo does not log in');
    const [, url] = /"urls":\["([^"]+)"/.exec(output()) ?? [];
    t.match(await (await fetch(`${url}/companies/example.com`)).json(), { domain: 'example.com' });
    t.match(await (await fetch(`${url}/echo`)).json(), { method: 'GET' });
    const ended = happens(demo, 'exit');
    demo.kill('SIGTERM');
    t.same(await ended, [0, null]);

    const file = join(user, 'bearerd.yaml');
    writeFileSync(
      file,
      'baseUrl: https://api.example.com\ncredentials: { apiKey: { type: apiKey, key: { env: KEY } } }\n',
    );
    const checked = spawnSync(program, ['check', '--config', file], {
      env: { ...env, KEY: 'secret' },
      encoding: 'utf8',
    });
    t.equal(checked.status, 0, checked.stdout + checked.stderr);
    t.notMatch(checked.stdout + checked.stderr, /secret/);
  },
);

t.test('the examples of docs/library.md pass the type check and run', async (t) => {
  const api = await startMockApi();
  t.teardown(() => api.close());
  // Fastify is a dependency of the host program.
  symlinkSync(join(ROOT, 'node_modules/fastify'), join(user, 'node_modules/fastify'));
  const text = readFileSync(join(ROOT, 'docs/library.md'), 'utf8');
  const examples = [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!);
  const names = examples.map((code, index) => {
    const name = `example-${index}.ts`;
    writeFileSync(join(user, name), code.replaceAll('https://api.example.com', api.url));
    return name;
  });
  const compilerOptions = {
    target: 'es2022',
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    types: ['node'],
  };
  writeFileSync(join(user, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names }));
  const checked = spawnSync(await compilerPath(), ['--project', user], { encoding: 'utf8' });
  t.equal(checked.stdout, '');
  t.equal(checked.status, 0);

  const { clientId, clientSecret } = api.credentials;
  const env = {
    PATH: process.env.PATH,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    NODE_NO_WARNINGS: '1',
  };
  const outputs = await Promise.all(
    names.map(async (name) => {
      const args = ['--experimental-strip-types', name];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
        cwd: user,
        env,
        timeout: 300_000,
      });
      return stdout + stderr;
    }),
  );
  t.same(outputs.slice(0, 3), ['200\n', '200 true\n', '200\n']);
  t.match(outputs[3], /^baseUrl: .*\n(?:.*\n)*listen: /);
});

t.test('the compiler refuses a wrong type in the configuration', async (t) => {
  mkdirSync(join(user, 'wrong'));
  writeFileSync(
    join(user, 'wrong/wrong.ts'),
    "import { createBearerd } from 'bearerd';\nawait createBearerd({ baseUrl: 'x', log: { level: 'loud' } });\n",
  );
  const args = [
    '--noEmit',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--strict',
    '--skipLibCheck',
    '--ignoreConfig',
    'wrong.ts',
  ];
  const { stdout } = spawnSync(await compilerPath(), args, {
    cwd: join(user, 'wrong'),
    encoding: 'utf8',
  });
  t.match(stdout, /'"loud"' is not assignable/);
});
