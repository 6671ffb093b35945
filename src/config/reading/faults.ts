import { ConfigError, type ConfigFault } from '../../base/config-error.ts';
import { meantIn } from '../values/nearest.ts';

/** Takes one fault: the variable or file key, what is wrong with it, and where it stands. */
export type Report = (
  key: string,
  problem: string,
  where?: { readonly place?: string | undefined; readonly ofFile?: true },
) => void;

/** Collects faults, so that a person can repair all of them at once. */
export class FaultList {
  readonly #faults = new Map<string, ConfigFault>();

  readonly report: Report = (key, problem, { place, ofFile } = {}) => {
    const suggestion = meantIn(problem);
    this.#faults.set(`${key}\n${problem}`, {
      key,
      problem,
      ...(suggestion !== undefined && { suggestion }),
      ...(place !== undefined && { place }),
      ...(ofFile && { ofFile }),
    });
  };

  /** Sorted by key, with numbers as numbers (routes[2] before routes[10]), and without repetitions. */
  all(): readonly ConfigFault[] {
    return [...this.#faults.values()].sort((a, b) => a.key.localeCompare(b.key, 'en', { numeric: true }));
  }

  throwIfAny(): void {
    if (this.#faults.size > 0) throw new ConfigError(this.all());
  }
}
