import { decode, foldCase } from './misreadings.ts';
import { readPath } from './path.ts';

/** True where `prefix` ends at a segment boundary of `path`: `/api` takes `/api` and `/api/x`, not `/apiary`. */
export function isUnder(path: string, prefix: string): boolean {
  if (prefix === '/') return true;
  return (
    path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  );
}

/** True where the last segment of `prefix` goes on in `path` to another name by a `.` or a `;`. */
function goesOn(path: string, prefix: string): boolean {
  const next = path.startsWith(prefix) ? path.charCodeAt(prefix.length) : 0;
  return next === 0x2e || next === 0x3b;
}

/** Upper-case digits in the escapes, which are the same in any case (RFC 3986 §6.2.2.1). Keeps the length. */
function upperCaseEscapes(path: string): string {
  return path.includes('%') ? path.replace(/%[0-9A-Fa-f]{2}/g, (octet) => octet.toUpperCase()) : path;
}

interface Entry<T> {
  /** As it is configured; what a path as it was sent is compared with. */
  readonly literal: string;
  /** Its plain forms, as written and decoded, in one letter case; what a path's readings are compared with. */
  readonly plain: readonly string[];
  /** All readings that an upstream could have of it. */
  readonly readings: readonly string[];
  readonly owner: T;
}

/** Finds the owner of the longest prefix that a path is under, whatever the order in which they are given. */
export class Prefixes<T extends { readonly prefix: string; readonly denied: boolean }> {
  readonly #literal: readonly (readonly [prefix: string, entry: Entry<T>])[];
  readonly #plain: readonly (readonly [prefix: string, entry: Entry<T>])[];
  readonly #denying: readonly (readonly [prefix: string, entry: Entry<T>])[];

  constructor(owners: readonly T[]) {
    const entries = owners.map(createEntry);
    this.#literal = longestFirst(entries.map((entry) => [entry.literal, entry]));
    this.#plain = longestFirst(
      entries.flatMap((entry) => entry.plain.map((prefix) => [prefix, entry] as const)),
    );
    this.#denying = this.#plain.filter(([, { owner }]) => owner.denied);
  }

  /** The owner for a path as it was sent. */
  find(path: string): T | undefined {
    const exact = upperCaseEscapes(path);
    return this.#literal.find(([prefix]) => isUnder(exact, prefix))?.[1].owner;
  }

  /** True if this reading of a path leads to the same owner that the path as it was sent has. */
  agrees(reading: string, owner: T | undefined): boolean {
    const [prefix, best] = this.#plain.find(([plain]) => isUnder(reading, plain)) ?? ['', undefined];
    if (best?.owner === owner) return true;
    // A prefix with a `;` in it, say, is misread together with the path under it: no other one is meant then.
    const own = this.#literal.find(([, entry]) => entry.owner === owner)?.[1].readings ?? [];
    return own.some((misread) => misread.length >= prefix.length && isUnder(reading, misread));
  }

  /**
   * The owner that denies and whose last segment goes on by `.` or `;` in one of these readings, where no longer prefix
   * takes it: many servers give `/reports/archive` by the name of `/reports/archive.json`, too.
   */
  closing(readings: readonly string[]): T | undefined {
    for (const [denied, { owner }] of this.#denying) {
      for (const reading of readings) {
        if (!goesOn(reading, denied)) continue;
        const taken = this.#plain.find(([prefix]) => isUnder(reading, prefix));
        if (taken === undefined || taken[0].length < denied.length) return owner;
      }
    }
    return undefined;
  }
}

function createEntry<T extends { readonly prefix: string }>(owner: T): Entry<T> {
  const { prefix } = owner;
  const reading = readPath(prefix);
  return {
    literal: upperCaseEscapes(prefix),
    plain: [...new Set([foldCase(prefix), foldCase(decode(prefix))])],
    // Where the prefix itself is refused, so is every path under it.
    readings: reading.ok ? reading.readings : [],
    owner,
  };
}

function longestFirst<E>(entries: readonly (readonly [string, E])[]): readonly (readonly [string, E])[] {
  return [...entries].sort(([a], [b]) => b.length - a.length);
}
