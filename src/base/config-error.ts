/** One mistake in the configuration. It never holds a secret's value. */
export interface ConfigFault {
  /** The variable (`BEARERD_LISTEN`) or the file key (`routes[2].prefix`). */
  readonly key: string;
  /** What is wrong, and what would be right. Without the key and the place. */
  readonly problem: string;
  /** The nearest known name or value. */
  readonly suggestion?: string;
  /** Where in the file: `bearerd.yaml:12`. */
  readonly place?: string;
  /** The fault is in a secret or TLS file, which can't be read or has the wrong content. */
  readonly ofFile?: true;
}

/** A fault on one line, for a person. */
export function formatFault(fault: ConfigFault): string {
  return `${fault.key}: ${placedProblem(fault)}`;
}

/** What is wrong, with the place in the file. */
export function placedProblem({ problem, place }: ConfigFault): string {
  return place === undefined ? problem : `${problem} (${place})`;
}

/** A fault for a program: `check --json` and `POST /reload` give it. */
export function faultAsJson(fault: ConfigFault): object {
  return { key: fault.key, message: placedProblem(fault), suggestion: fault.suggestion ?? null };
}

/** The configuration can't be used. Holds every fault, not only the first. */
export class ConfigError extends Error {
  readonly code = 'config-invalid';
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(formatFault).join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** The named configuration file can't be read (exit code 66). */
export class ConfigFileError extends Error {
  readonly code = 'config-file-unreadable';
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`);
    this.name = 'ConfigFileError';
    this.path = path;
    this.reason = reason;
  }
}
