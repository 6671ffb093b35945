import { resolve } from 'node:path';
import { ConfigError } from '../../base/config-error.ts';
import { UsageError } from '../../base/errors.ts';
import { loadConfig } from '../../config/load.ts';
import type { CurlLine } from './curl-line.ts';
import type { WrittenFiles } from './written-files.ts';

/** Faults of what is not in the line: TLS files, which may be put there later, and bearerd's own variables. */
const ELSEWHERE = /^(?:tls\.|BEARERD_)/;

/**
 * Reads the files as `check` would, before they are written.
 *
 * @throws UsageError with the faults that `check` would have
 */
export async function checkFiles(
  { yaml, secrets }: WrittenFiles,
  { expansions }: Pick<CurlLine, 'expansions'>,
  output: string,
): Promise<void> {
  const texts = new Map(
    [{ path: output, text: yaml }, ...secrets].map(({ path, text }) => [resolve(path), text]),
  );
  const readFile = (path: string) => {
    const text = texts.get(path);
    if (text === undefined) throw Object.assign(new Error('not a file of ours'), { code: 'ENOENT' });
    return text;
  };
  // What a variable holds is not known: any text stands in for it.
  const env = Object.fromEntries(
    expansions.flatMap((expansion) => ('variable' in expansion ? [[expansion.variable, 'x']] : [])),
  );
  try {
    await loadConfig({ env, readFile, configFile: output });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.faults.filter(({ key }) => !ELSEWHERE.test(key));
    if (faults.length > 0)
      throw new UsageError(faults.map(({ key, problem }) => `${key}: ${problem}`).join('; '));
  }
}
