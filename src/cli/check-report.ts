import { type ConfigFault, faultAsJson, formatFault, placedProblem } from '../base/config-error.ts';
import type { Config } from '../config/config.ts';
import { asJson, type Finding, SERVER_CHECKS, skipped } from './online/check-result.ts';
import { faultySecretFiles } from './online/secret-files.ts';

/** What `check` says of a key, which no login tries. */
export const KEY_NOT_TRIED = 'not tried; only a request can try a key';
const FAULTY = 'not tried, since the configuration is not valid';

/** What `check --json` prints. */
export function jsonReport(
  faults: readonly ConfigFault[],
  findings: readonly Finding[],
  warnings: readonly ConfigFault[] = [],
): string {
  const report = {
    ok: faults.length === 0 && findings.every(({ ok }) => ok !== false),
    faults: faults.map(faultAsJson),
    ...(warnings.length > 0 && {
      warnings: warnings.map((warning) => ({ key: warning.key, message: placedProblem(warning) })),
    }),
    checks: findings.map(asJson),
  };
  return `${JSON.stringify(report)}\n`;
}

/** A line for each value that is probably a mistake, for a person. */
export function warningLines({ warnings }: Pick<Config, 'warnings'>): string {
  return warnings.map((warning) => `# Warning: ${formatFault(warning)}\n`).join('');
}

/** The `login` findings of a check that is not online. */
export function keysNotTried({ credentials }: Config): Finding[] {
  return [...credentials.values()]
    .filter(({ kind }) => kind === 'api-key' || kind === 'basic')
    .map(({ name }) => skipped(['login', name], KEY_NOT_TRIED));
}

/** The checks of a configuration with faults: nothing was tried. */
export function notTried(faults: readonly ConfigFault[]): Finding[] {
  const subject = 'none';
  const files = faultySecretFiles(faults) ?? skipped(['secret-files', subject], FAULTY);
  const others = [...SERVER_CHECKS, 'login'] as const;
  return [files, ...others.map((name) => skipped([name, subject], FAULTY))];
}
