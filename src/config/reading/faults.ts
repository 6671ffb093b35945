import { ConfigError, type ConfigFault } from '../../base/errors.ts';
import { meantIn } from '../values/nearest.ts';

/** Takes one fault: the variable or file key, what is wrong with it, and where it stands. */
export type Report = (
  key: string,
  problem: string,
  where?: { readonly place?: string | undefined; readonly ofFile?: true },
) => void;

/** Gathers faults, so that a person can mend all of them at once. */
export interface FaultList {
  readonly report: Report;
  /** Throws when there is a fault: sorted by key, the same one once. */
  readonly throwIfAny: () => void;
}

export function faultList(): FaultList {
  const faults = new Map<string, ConfigFault>();
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
    throwIfAny: () => {
      if (faults.size === 0) return;
      // Numbers as numbers: routes[2] stands before routes[10].
      const byKey = (a: ConfigFault, b: ConfigFault) => a.key.localeCompare(b.key, 'en', { numeric: true });
      throw new ConfigError([...faults.values()].sort(byKey));
    },
  };
}
