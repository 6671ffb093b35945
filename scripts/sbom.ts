import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withSerialNumber } from './serial-number.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly description?: string;
}

const read = <T>(path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;

function identified({ name, version, license }: Manifest) {
  // In a package URL the @ of a scope is escaped, and the slash is not.
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const [, group, bare = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  return {
    'bom-ref': purl,
    ...(group !== undefined && { group }),
    name: bare,
    version,
    ...(license !== undefined && { licenses: [licenceOf(license)] }),
    purl,
  };
}

/** `(MIT OR CC0-1.0)` is an SPDX expression, `MIT` an identifier. */
function licenceOf(license: string): object {
  return /[ ()]/.test(license) ? { expression: license } : { license: { id: license } };
}

/**
 * The bill of materials of the bundle (CycloneDX 1.6), with the hash of each package's tarball from the lock file. It has
 * no time, so that the same sources give the same text.
 *
 * @param folders of the packages, relative to the root, such as `node_modules/pino`
 */
export function billOfMaterials(folders: readonly string[]): string {
  const { packages } = read<{ packages: Record<string, { integrity?: string }> }>('package-lock.json');
  const bearerd = identified(read<Manifest>('package.json'));
  const components = folders.map((folder) => {
    const integrity = packages[folder]?.integrity;
    if (!integrity?.startsWith('sha512-')) throw new Error(`${folder}: the lock file has no hash`);
    const content = Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex');
    const component = identified(read<Manifest>(`${folder}/package.json`));
    return { type: 'library', ...component, scope: 'required', hashes: [{ alg: 'SHA-512', content }] };
  });
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...bearerd } },
    components,
    dependencies: [
      { ref: bearerd['bom-ref'], dependsOn: [...new Set(components.map((one) => one['bom-ref']))] },
    ],
  };
  return `${JSON.stringify(withSerialNumber(bill), null, 2)}\n`;
}
