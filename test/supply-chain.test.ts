import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { bundle } from '../scripts/bundle.ts';
import { MAIN } from './support/cli.ts';

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly inBundle?: boolean;
}

const read = (name: string) =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), 'utf8')) as Record<
    string,
    unknown
  >;
const packages = Object.entries(read('package-lock.json').packages as Record<string, Locked>).filter(
  ([path]) => path !== '',
);

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
}

/** The packages in the bundle. */
let shipped: readonly (Component & { readonly full: string })[] = [];
t.before(async () => {
  const isBundled = MAIN.endsWith('.js');
  const folder = isBundled ? dirname(MAIN) : join(t.testdir(), 'dist');
  if (!isBundled) await bundle(folder);
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
    components: Component[];
  };
  shipped = components.map((one) => ({ ...one, full: one.group ? `${one.group}/${one.name}` : one.name }));
});

/** Versions below these have public vulnerabilities that concern a proxy. */
const FLOORS: Readonly<Record<string, string>> = {
  '@fastify/http-proxy': '11.6.3',
  '@fastify/reply-from': '12.6.5',
  undici: '7.24.0',
  fastify: '5.8.3',
};

function isAtLeast(version: string, floor: string): boolean {
  return version.localeCompare(floor, 'en', { numeric: true }) >= 0;
}

t.test('no bundled library for HTTP is older than the repair of its public vulnerabilities', async (t) => {
  for (const [name, floor] of Object.entries(FLOORS)) {
    const copies = shipped.filter(({ full }) => full === name);
    t.not(copies.length, 0, name);
    for (const { version } of copies)
      t.ok(isAtLeast(version, floor), `${name} ${version}, at least ${floor}`);
  }
});

t.test('the lock file has a SHA-512 hash of each package, and one registry', async (t) => {
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

t.test('installing bearerd installs no other package and runs no script', async (t) => {
  const { scripts, dependencies } = read('package.json');
  t.same(dependencies ?? {}, {});
  t.same(
    Object.keys(scripts as object).filter((name) => /^(?:pre|post)?install$/.test(name)),
    [],
  );
});
