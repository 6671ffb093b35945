import { decode, foldCase } from './misreadings.ts';
import { readPath } from './path.ts';

/** True if `prefix` ends at a segment boundary of `path`: `/api` matches `/api` and `/api/x`, not `/apiary`. */
export function isUnder(path: string, prefix: string): boolean {
  if (prefix === '/') return true;
  return (
    path.startsWith(prefix) && (path.length === prefix.length || path.charCodeAt(prefix.length) === 0x2f)
  );
}

/** True if in `path` a `.` or `;` follows `prefix`, so that its last segment is a longer name. */
function goesOn(path: string, prefix: string): boolean {
  const next = path.startsWith(prefix) ? path.charCodeAt(prefix.length) : 0;
  return next === 0x2e || next === 0x3b;
}

/** Writes escapes with upper-case digits; case makes no difference there (RFC 3986 §6.2.2.1). Keeps the length. */
function upperCaseEscapes(path: string): string {
  return path.includes('%') ? path.replace(/%[0-9A-Fa-f]{2}/g, (octet) => octet.toUpperCase()) : path;
}

/** The owner of the longest prefix for a path as it was sent, like `Prefixes.find`; for a search that is rare. */
export function ownerOf<T extends { readonly prefix: string }>(
  path: string,
  owners: readonly T[],
): T | undefined {
  const exact = upperCaseEscapes(path);
  let found: T | undefined;
  for (const owner of owners) {
    if (found !== undefined && found.prefix.length >= owner.prefix.length) continue;
    if (isUnder(exact, upperCaseEscapes(owner.prefix))) found = owner;
  }
  return found;
}

interface Entry<T> {
  /** As configured. Compared with a path as it was sent. */
  readonly literal: string;
  /** As configured and decoded, in one letter case. Compared with the readings of a path. */
  readonly plain: readonly string[];
  /** All readings that an upstream could have of the prefix. */
  readonly readings: readonly string[];
  readonly owner: T;
}

/** Finds the owner of the longest prefix that matches a path. The order of the owners makes no difference. */
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

  /** True if this reading of a path leads to the same owner as the path as it was sent. */
  agrees(reading: string, owner: T | undefined): boolean {
    const [prefix, best] = this.#plain.find(([plain]) => isUnder(reading, plain)) ?? ['', undefined];
    if (best?.owner === owner) return true;
    // A prefix with a `;`, for example, is misread together with the path under it: that leads to no other owner.
    const own = this.#literal.find(([, entry]) => entry.owner === owner)?.[1].readings ?? [];
    return own.some((misread) => misread.length >= prefix.length && isUnder(reading, misread));
  }

  /**
   * The owner that denies a path because of its format ending: many servers answer `/reports/archive.json` like
   * `/reports/archive`, so a `.` or `;` behind a denied prefix is denied, too, unless a longer prefix matches.
   */
  deniedByEnding(readings: readonly string[]): T | undefined {
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
    // If the prefix itself is refused, so is every path under it.
    readings: reading.ok ? reading.readings : [],
    owner,
  };
}

function longestFirst<E>(entries: readonly (readonly [string, E])[]): readonly (readonly [string, E])[] {
  return [...entries].sort(([a], [b]) => b.length - a.length);
}
