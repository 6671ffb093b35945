import type { Event } from '../../src/base/events.ts';

/** How often the members of one process have logged in, by the engine's answer before. */
export class LoginReasons {
  readonly counts: Record<string, number> = {};

  /** Counts the logins of one member, from its events. */
  member(): (event: Event) => void {
    let said = 'nothing';
    let hasToken = false;
    return (event) => {
      if (event.type === 'share-operation' && (event.op === 'lock' || event.result === 'gone'))
        said = event.result;
      if (event.type === 'token-rejected' || event.type === 'token-expired') hasToken = false;
      if (event.type !== 'login-succeeded') return;
      if (!event.taken) this.#count(`lock ${said}${hasToken ? '' : ', no token'}`);
      hasToken = true;
    };
  }

  #count(reason: string): void {
    this.counts[reason] = (this.counts[reason] ?? 0) + 1;
  }
}

/** The sum of several counts. */
export function sumOf(counts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [reason, count] of counts.flatMap(Object.entries<number>))
    sum[reason] = (sum[reason] ?? 0) + count;
  return sum;
}
