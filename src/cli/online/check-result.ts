import { EXIT } from '../exit-codes.ts';

/** The steps on the way to a server, in their order. */
export const SERVER_STEPS = ['outbound-proxy', 'dns', 'connect', 'tls'] as const;
/** `SERVER_STEPS`, and the clock that the answer shows. */
export const SERVER_CHECKS = [...SERVER_STEPS, 'clock'] as const;

type CheckName = 'secret-files' | (typeof SERVER_CHECKS)[number] | 'login' | 'share' | 'request';

/** One thing that was looked at. The names are those of `check --json`. */
interface CheckResult {
  readonly name: CheckName;
  readonly subject: string;
  /** Null if it doesn't apply, or was not reached. */
  readonly ok: boolean | null;
  readonly detail: string;
  /** What to do about it, if that is known. */
  readonly remedy: string | null;
}

/** What was looked at, and what the command exits with because of it. */
export interface Finding extends CheckResult {
  readonly exitCode: number;
}

interface Failure {
  readonly detail: string;
  readonly remedy: string | undefined;
  readonly exitCode: number;
}

type About = readonly [name: CheckName, subject: string];

export const passed = ([name, subject]: About, detail: string): Finding => {
  return { name, subject, ok: true, detail, remedy: null, exitCode: EXIT.done };
};

export const skipped = ([name, subject]: About, detail: string): Finding => {
  return { name, subject, ok: null, detail, remedy: null, exitCode: EXIT.done };
};

export const failed = ([name, subject]: About, { detail, remedy, exitCode }: Failure): Finding => {
  return { name, subject, ok: false, detail, remedy: remedy ?? null, exitCode };
};

/** With the names of `check --json`, and nothing else. */
export function asJson({ name, subject, ok, detail, remedy }: Finding): CheckResult {
  return { name, subject, ok, detail, remedy };
}

/** The same on one line, which is a comment in the YAML that `check` prints. */
export function asLine({ name, subject, ok, detail, remedy }: CheckResult): string {
  const sign = ok === null ? '–' : ok ? '✓' : '✗';
  return `# ${sign} ${name} ${subject}: ${withRemedy(detail, remedy)}\n`;
}

export function withRemedy(detail: string, remedy: string | null): string {
  return remedy === null ? detail : `${detail}. ${remedy}`;
}
