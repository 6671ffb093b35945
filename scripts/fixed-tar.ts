import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

/** The date that npm uses in tarballs. A zip can't hold a much earlier one. */
export const DATE = new Date('1985-10-26T08:15:00Z');

const FIXED = [
  '--format=ustar',
  '--sort=name',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--mode=u=rwX,go=rX',
  `--mtime=@${DATE.getTime() / 1000}`,
];

/** Packs `folder`/`name` into `file`, a `.tar.gz`. The bytes do not depend on time, owner or umask. */
export function fixedTar(folder: string, name: string, file: string): void {
  const options = { cwd: folder, maxBuffer: 2 ** 30 };
  const text = execFileSync('tar', ['-c', ...FIXED, name], options);
  writeFileSync(file, execFileSync('gzip', ['-9n'], { ...options, input: text }));
}
