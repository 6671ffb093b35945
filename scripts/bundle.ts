import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { billOfMaterials } from './sbom.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Licences of packages whose npm package has none. */
const LICENCES = fileURLToPath(new URL('licences/', import.meta.url));
const STAND_INS = fileURLToPath(new URL('stand-ins/', import.meta.url));

/**
 * `import` reads every export of a built-in module, which for `node:http` loads Node's own undici, WebSocket included. A
 * call of `getBuiltinModule` loads only the module.
 */
const nodeModules: Plugin = {
  name: 'node-modules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /./ }, ({ path, namespace, kind }) => {
      if (!isBuiltin(path) || namespace === 'node-module') return undefined;
      // As a bundled file the module would have only the export `default`.
      return kind === 'dynamic-import' ? { path, external: true } : { path, namespace: 'node-module' };
    });
    onLoad({ filter: /./, namespace: 'node-module' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})`,
    }));
  },
};

/** Replaces some packages by the files in `stand-ins/`. */
const standIns: Plugin = {
  name: 'stand-ins',
  setup({ onResolve }) {
    onResolve({ filter: /^undici$/ }, () => ({ path: join(STAND_INS, 'undici.cjs') }));
    onResolve({ filter: /^@opentelemetry\/api$/ }, ({ importer }) =>
      importer.includes('/prom-client/') ? { path: join(STAND_INS, 'opentelemetry-api.cjs') } : undefined,
    );
    onResolve({ filter: /^ajv$/ }, ({ importer }) =>
      importer.includes('/env-schema/') ? { path: join(STAND_INS, 'ajv.cjs') } : undefined,
    );
  },
};

const QUICK = 'src/cli/quick-healthcheck.ts';

/** Makes a separate file that shares no other: loading a second file takes longer than loading this one. */
const quickApart: Plugin = {
  name: 'quick-apart',
  setup({ onResolve }) {
    onResolve({ filter: /quick-healthcheck\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './quick-healthcheck.js', external: true } : undefined,
    );
  },
};

const COMMON = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  target: 'node24.18',
  format: 'esm',
  // ES modules can be tree-shaken: OpenTelemetry's packages get smaller by four fifths.
  mainFields: ['module', 'main'],
  // Names are kept, so that stack traces can be read.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none', // The full texts are in THIRD-PARTY.txt.
  logOverride: { 'import-is-undefined': 'error' },
  logLevel: 'warning',
} as const satisfies BuildOptions;

/** Makes one file for what every start needs, and one for each part that is loaded on demand. */
export async function bundle(outdir: string): Promise<void> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: { main: 'src/main.ts', index: 'src/library/index.ts', fastify: 'src/library/fastify.ts' },
    outdir,
    splitting: true,
    plugins: [quickApart, nodeModules, standIns],
    metafile: true,
  });
  await build({ ...COMMON, entryPoints: [QUICK], outdir, plugins: [nodeModules] });
  const folders = packagesIn(metafile);
  writeFileSync(join(outdir, 'THIRD-PARTY.txt'), folders.map(licence).join('\n'));
  writeFileSync(join(outdir, 'sbom.cdx.json'), billOfMaterials(folders));
  cpSync(join(ROOT, 'src/observe/page'), join(outdir, 'page'), {
    recursive: true,
    filter: (path) => !path.endsWith('tsconfig.json'),
  });
}

/**
 * The folders of the bundled packages, one for each name and version: npm may install several copies. `node_modules`
 * itself may be a symbolic link.
 */
function packagesIn({ outputs }: Metafile): string[] {
  const folders = new Map<string, string>();
  for (const [file, { bytesInOutput }] of Object.values(outputs).flatMap(({ inputs }) =>
    Object.entries(inputs),
  )) {
    if (bytesInOutput === 0) continue;
    const folder = /(?:^|\/)(node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
    if (folder === undefined) continue;
    const { name, version } = manifestIn(folder);
    folders.set(`${name}@${version}`, folder);
  }
  return [...folders.values()].sort();
}

function manifestIn(folder: string): {
  readonly name: string;
  readonly version: string;
  readonly license: string;
} {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
}

/** The licence text of a package, as its licence requires. If the package has none, it is in `scripts/licences/`. */
function licence(folder: string): string {
  const { name, version, license } = manifestIn(folder);
  const file = readdirSync(join(ROOT, folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const path = file === undefined ? join(LICENCES, `${name}.txt`) : join(ROOT, folder, file);
  if (!existsSync(path)) throw new Error(`${name} has no licence text: put it into ${path}`);
  const text = readFileSync(path, 'utf8').trim();
  return `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${text}\n`;
}
