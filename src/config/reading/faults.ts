import { ConfigError, type ConfigFault } from '../../base/config-error.ts';
import { meantIn } from '../values/nearest.ts';

/** Takes one fault: the variable or file key, what is wrong with it, and where it stands. */
export type Report = (
  key: string,
  problem: string,
  where?: { readonly place?: string | undefined; readonly ofFile?: true },
) => void;

/** Collects faults, so that a person can repair all of them at once. */
export interface FaultList {
  readonly report: Report;
  /** Sorted by key, without repetitions. */
  readonly all: () => readonly ConfigFault[];
  readonly throwIfAny: () => void;
}

export function faultList(): FaultList {
  const faults = new Map<string, ConfigFault>();
  // Sorts numbers as numbers: routes[2] before routes[10].
  const byKey = (a: ConfigFault, b: ConfigFault) => a.key.localeCompare(b.key, 'en', { numeric: true });
  const all = () => [...faults.values()].sort(byKey);
  return {
    report: (key, problem, { place, ofFile } = {}) => {
      const suggestion = meantIn(problem);
      faults.set(`${key}\n${problem}`, {
        key,
        problem,
        ...(suggestion !== undefined && { suggestion }),
        ...(place !== undefined && { place }),
        ...(ofFile && { ofFile }),
      });
    },
    all,
    throwIfAny: () => {
      if (faults.size > 0) throw new ConfigError(all());
    },
  };
}
