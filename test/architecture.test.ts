import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

// The structure of the sources (docs/architecture.md): data flows one way, and each library has one owner.
const SRC = fileURLToPath(new URL('../src', import.meta.url));
const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** A folder, or `main.ts`, may import from itself and from those before it. */
const ORDER = [
  'base',
  'node',
  'config',
  'login',
  'tokens',
  'routes',
  'upstream',
  'forward',
  'listen',
  'observe',
  'integrations',
  'app',
  'library',
  'cli',
  'main.ts',
];
/** The folders and files within config, by the same rule. Other files at the top of config may import from all. */
const CONFIG_ORDER = ['values', 'declaration', 'reading', 'shapes', 'sections', 'config.ts', 'shown'];
/** The folders that may import a package. */
const OWNERS: Record<string, string[]> = {
  fastify: ['listen', 'library'],
  '@fastify/http-proxy': ['listen'],
  undici: ['cli'],
  jose: ['login'],
  pino: ['observe'],
  'prom-client': ['node', 'observe'],
  '@redis/client': ['integrations'],
  'env-schema': ['config'],
  yaml: ['config', 'cli'],
  '@opentelemetry/api': ['integrations'],
  '@opentelemetry/core': ['integrations'],
  '@opentelemetry/exporter-trace-otlp-http': ['integrations'],
  '@opentelemetry/resources': ['integrations'],
  '@opentelemetry/sdk-trace-base': ['integrations'],
  '@opentelemetry/semantic-conventions': ['integrations'],
};

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));

function importsOf(file: string): string[] {
  const text = readFileSync(join(SRC, file), 'utf8');
  return [...text.matchAll(/(?:\sfrom|import\()\s*'([^']+)'/g)].map((match) => match[1]!);
}

/** `forward` for `forward/exchange.ts`; the file's own name at the top level. */
function room(file: string): string {
  return file.includes('/') ? file.split('/')[0]! : file;
}

/** The files that each file imports. */
const TARGETS = new Map(
  files.map((file) => {
    const own = importsOf(file).filter((s) => s.startsWith('.'));
    return [file, own.map((specifier) => relative(SRC, join(SRC, file, '..', specifier)))];
  }),
);

t.test('a file imports only from its own folder and from folders before it', async (t) => {
  const wrong: string[] = [];
  for (const [file, targets] of TARGETS) {
    const from = room(file);
    for (const to of targets) {
      if (room(to) === from) continue;
      const allowed =
        from === 'mock' // A separate server, which knows nothing of the proxy.
          ? room(to) === 'base'
          : room(to) === 'mock'
            ? from === 'cli'
            : ORDER.indexOf(room(to)) !== -1 && ORDER.indexOf(room(to)) < ORDER.indexOf(from);
      if (!allowed) wrong.push(`${file} → ${to}`);
    }
  }
  t.same(wrong, []);
});

t.test(
  'within config, too, a file imports only from its own folder and from folders before it',
  async (t) => {
    const rank = (file: string): number => {
      const at = CONFIG_ORDER.indexOf(file.split('/')[1]!);
      return at === -1 ? CONFIG_ORDER.length : at;
    };
    const wrong = files
      .filter((file) => file.startsWith('config/'))
      .flatMap((file) =>
        TARGETS.get(file)!
          .filter((to) => to.startsWith('config/') && rank(to) > rank(file))
          .map((to) => `${file} → ${to}`),
      );
    t.same(wrong, []);
  },
);

t.test('there is no circular import, not even of a type', async (t) => {
  const reachable = (from: string, seen = new Set<string>()): Set<string> => {
    for (const to of TARGETS.get(from) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      reachable(to, seen);
    }
    return seen;
  };
  t.same(
    files.filter((file) => reachable(file).has(file)),
    [],
  );
});

t.test('each dependency is declared, used, and has one owner', async (t) => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
    devDependencies: Record<string, string>;
  };
  t.same(dependencies ?? {}, {}, 'the bundle holds every package that an installed bearerd loads');
  const used = new Map<string, Set<string>>();
  for (const file of files) {
    for (const specifier of importsOf(file).filter((s) => !s.startsWith('.') && !s.startsWith('node:'))) {
      used.set(specifier, (used.get(specifier) ?? new Set()).add(room(file)));
    }
  }
  t.same([...used.keys()].sort(), Object.keys(OWNERS).sort(), 'each package is used');
  t.same(
    [...used.keys()].filter((name) => devDependencies[name] === undefined),
    [],
    'each package is declared',
  );
  for (const [name, rooms] of used) {
    t.same(
      [...rooms].filter((owner) => !OWNERS[name]?.includes(owner)),
      [],
      `${name} is imported only by its owners`,
    );
  }
  t.same(
    Object.keys(OWNERS).filter((name) => !/^\d+\.\d+\.\d+$/.test(devDependencies[name] ?? '')),
    [],
    'exact versions',
  );
});

/** The only files that may call `expose()`: a secret leaves the process there, or is parsed. */
const EXPOSES: Readonly<Record<string, string>> = {
  'forward/headers/request-headers.ts': 'a request upstream',
  'login/login-request.ts': 'a login',
  'login/signed-assertion.ts': 'the key that signs an assertion',
  'listen/secure-server.ts': 'the key of the listener',
  'upstream/secure-context.ts': 'a client certificate and its key',
  'upstream/outbound-proxy.ts': 'the URL of an outbound proxy',
  'integrations/files/file-sink.ts': 'a token file',
  'integrations/haproxy/haproxy-sink.ts': "HAProxy's map",
  'integrations/fleet/keys.ts': 'the keys that shared tokens are sealed with',
  'integrations/fleet/redis-client.ts': "Redis' password",
  'library/token-source.ts': 'the token that a program asked for',
  'cli/token.ts': 'the token that a person asked for',
  'forward/scrub/known-secrets.ts': 'what answers are searched for',
  'config/values/share-url.ts': 'a URL with a password, to be parsed',
  'config/reading/secret-commands.ts': 'the output of a command, to be checked like any value',
};

t.test('only one function writes to stderr, so that a reader that has gone ends no command', async (t) => {
  const writing = files.filter((file) =>
    /process\.stderr\.write\(/.test(readFileSync(join(SRC, file), 'utf8')),
  );
  t.same(writing, ['main.ts'], 'main.ts ends at once behind it');
});

t.test('only the listed files call expose() on a secret', async (t) => {
  const exposing = files.filter((file) => /\.expose\(\)/.test(readFileSync(join(SRC, file), 'utf8')));
  t.same(exposing.sort(), Object.keys(EXPOSES).sort());
});
