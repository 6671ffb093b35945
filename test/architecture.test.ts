import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

// The shape of the house (docs/DECISIONS.md): data flows one way, and each library has one owner.
const SRC = fileURLToPath(new URL('../src', import.meta.url));
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A folder may import from itself and from those before it. */
const ORDER = [
  'seams',
  'failures',
  'config',
  'credentials',
  'tokens',
  'routes',
  'upstream',
  'fleet',
  'client',
  'scrub',
  'forward',
  'tracing',
  'listen',
  'render',
  'observe',
  'sinks',
  'gateway',
];
/** The rooms within config, by the same rule; what lies at its top may import from all, and types of a Config from any. */
const CONFIG_ORDER = ['values', 'declaration', 'reading', 'checks', 'shown'];
const CONFIG_LEAVES = ['config/config.ts', 'config/secret.ts'];
/** Leaves, which import nothing of ours, and may be imported from anywhere. */
const LEAVES = ['clock.ts', 'errors.ts', 'events.ts', 'fields.ts', 'members.ts', 'version.ts'];
/** Who may import a package. */
const OWNERS: Record<string, string[]> = {
  fastify: ['listen', 'library'],
  '@fastify/http-proxy': ['listen'],
  undici: ['cli', 'credentials'],
  jose: ['credentials'],
  pino: ['observe'],
  'prom-client': ['observe', 'seams'],
  '@redis/client': ['fleet'],
  'env-schema': ['config'],
  yaml: ['config', 'cli'],
  'close-with-grace': ['cli'],
  '@opentelemetry/api': ['tracing'],
  '@opentelemetry/core': ['tracing'],
  '@opentelemetry/exporter-trace-otlp-http': ['tracing'],
  '@opentelemetry/resources': ['tracing'],
  '@opentelemetry/sdk-trace-base': ['tracing'],
  '@opentelemetry/semantic-conventions': ['tracing'],
};

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1]!);
}

/** `forward` for `forward/exchange.ts`; the file's own name at the top level. */
function room(file: string): string {
  return file.includes('/') ? file.split('/')[0]! : file;
}

function target(file: string, specifier: string): string {
  return relative(SRC, join(SRC, file, '..', specifier));
}

t.test('a file imports from its own folder, from those before it, and from the leaves', async (t) => {
  const wrong: string[] = [];
  for (const file of files) {
    const from = room(file);
    for (const specifier of importsOf(file).filter((s) => s.startsWith('.'))) {
      const to = target(file, specifier);
      if (LEAVES.includes(from) && !to.startsWith('errors')) wrong.push(`${file} → ${to}`);
      if (LEAVES.includes(to) || room(to) === from || LEAVES.includes(from)) continue;
      // The mock and the command line stand beside the row.
      const allowed = ['cli', 'library', 'main.ts'].includes(from)
        ? to !== 'main.ts'
        : ORDER.indexOf(room(to)) !== -1 && ORDER.indexOf(room(to)) < ORDER.indexOf(from);
      if (!allowed) wrong.push(`${file} → ${to}`);
    }
  }
  t.same(wrong, []);
});

t.test('within config, too, data flows one way, and no file imports itself by way of others', async (t) => {
  const inside = files.filter((file) => file.startsWith('config/'));
  const imports = new Map(
    inside.map((file) => [
      file,
      importsOf(file)
        .filter((s) => s.startsWith('.'))
        .map((s) => target(file, s)),
    ]),
  );
  const rank = (file: string): number => {
    if (CONFIG_LEAVES.includes(file)) return -1;
    const at = CONFIG_ORDER.indexOf(file.split('/')[1]!);
    return at === -1 ? CONFIG_ORDER.length : at;
  };
  const wrong = [...imports].flatMap(([file, targets]) =>
    targets.filter((to) => to.startsWith('config/') && rank(to) > rank(file)).map((to) => `${file} → ${to}`),
  );
  t.same(wrong, []);
  const reachable = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of imports.get(from) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      reachable(to, seen);
    }
    return seen;
  };
  t.same(
    inside.filter((file) => reachable(file).has(file)),
    [],
  );
});

t.test('each dependency is declared, used, and has one owner', async (t) => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  t.same(dependencies ?? {}, {}, 'the bundle holds all that an installed bearerd loads');
  const used = new Map<string, Set<string>>();
  for (const file of files) {
    for (const specifier of importsOf(file).filter((s) => !s.startsWith('.') && !s.startsWith('node:'))) {
      used.set(specifier, (used.get(specifier) ?? new Set()).add(room(file)));
    }
  }
  t.same([...used.keys()].sort(), Object.keys(OWNERS).sort(), 'each is used');
  t.same(
    [...used.keys()].filter((name) => devDependencies[name] === undefined),
    [],
    'each is declared',
  );
  for (const [name, rooms] of used) {
    t.same(
      [...rooms].filter((owner) => !OWNERS[name]?.includes(owner)),
      [],
      `${name} is used by its owners only`,
    );
  }
  t.same(
    Object.keys(OWNERS).filter((name) => !/^\d+\.\d+\.\d+$/.test(devDependencies[name] ?? '')),
    [],
    'exact versions',
  );
});

t.test('a secret comes out by expose() in few places', async (t) => {
  const exposing = files.filter((file) => /\.expose\(\)/.test(readFileSync(join(SRC, file), 'utf8')));
  t.same(exposing.sort(), [
    'cli/child-environment.ts',
    'cli/token.ts',
    'config/values/share-url.ts',
    'credentials/client-authentication.ts',
    'credentials/header-value.ts',
    'credentials/login-failure.ts',
    'credentials/oauth2-endpoint.ts',
    'credentials/session-endpoint.ts',
    'credentials/signed-assertion.ts',
    'fleet/account.ts',
    'fleet/keys.ts',
    'fleet/redis-client.ts',
    'fleet/shared-token.ts',
    'forward/request-headers.ts',
    'forward/scrubbing.ts',
    'library/token-source.ts',
    'listen/callers.ts',
    'listen/secure-server.ts',
    'sinks/file-sink.ts',
    'sinks/haproxy-sink.ts',
    'upstream/outbound-proxy.ts',
    'upstream/pools.ts',
    'upstream/secure-context.ts',
  ]);
});
