import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
}

const read = (name: string) =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8')) as Record<
    string,
    unknown
  >;
const packages = Object.entries(read('package-lock.json').packages as Record<string, Locked>).filter(
  ([path]) => path !== '',
);

/** Below these are public faults that concern a proxy. */
const FLOORS: Readonly<Record<string, string>> = {
  '@fastify/http-proxy': '11.6.3',
  '@fastify/reply-from': '12.6.5',
  undici: '7.24.0',
  fastify: '5.8.3',
};

function isAtLeast(version: string, floor: string): boolean {
  return version.localeCompare(floor, 'en', { numeric: true }) >= 0;
}

t.test('no library that carries requests is older than the repair of its public faults', async (t) => {
  for (const [name, floor] of Object.entries(FLOORS)) {
    const copies = packages.filter(
      ([path, { dev }]) => path.endsWith(`node_modules/${name}`) && dev !== true,
    );
    t.not(copies.length, 0, name);
    for (const [path, { version = '0' }] of copies)
      t.ok(isAtLeast(version, floor), `${path} ${version}, at least ${floor}`);
  }
});

t.test('the lockfile says the hash of each package, and takes all from one place', async (t) => {
  const bare = packages.filter(([, { integrity, link, inBundle }]) => !integrity && !link && !inBundle);
  t.same(
    bare.map(([path]) => path),
    [],
  );
  const weak = packages.filter(
    ([, { integrity }]) => integrity !== undefined && !integrity.startsWith('sha512-'),
  );
  t.same(
    weak.map(([path]) => path),
    [],
  );
  const origins = new Set(
    packages.flatMap(([, { resolved }]) => (resolved === undefined ? [] : [new URL(resolved).origin])),
  );
  t.ok(origins.size <= 1, [...origins].join());
});

t.test("no script runs when a user installs it: neither ours nor a dependency's", async (t) => {
  const scripts = Object.keys(read('package.json').scripts as object);
  t.same(
    scripts.filter((name) => /^(?:pre|post)?install$/.test(name)),
    [],
  );
  const running = packages.filter(
    ([, { hasInstallScript, dev }]) => hasInstallScript === true && dev !== true,
  );
  t.same(
    running.map(([path]) => path),
    [],
  );
});
