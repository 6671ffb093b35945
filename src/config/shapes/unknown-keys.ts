import { below, isAbsent, isMap, type YamlMap } from '../reading/maps.ts';
import { didYouMean, nearest } from '../values/nearest.ts';
import type { At } from './shape.ts';

/** A map of the file, empty if nothing is there; reports anything else. */
export function mapAt(raw: unknown, at: At): YamlMap | undefined {
  if (isAbsent(raw)) return {};
  if (isMap(raw)) return raw;
  const isGlued = typeof raw === 'string' && /^[A-Za-z]+:\S/.test(raw);
  return at.report(`must be a map of keys and values${isGlued ? '; a space is missing after a colon' : ''}`);
}

export interface Known {
  readonly known: readonly string[];
  readonly holdsSecrets?: boolean;
  /** Where a key that is unknown here does mean something: `type: oauth2`. */
  readonly placeOf?: ((key: string) => string | undefined) | undefined;
  /** Dotted keys of other places that may be meant. */
  readonly elsewhere?: readonly string[];
}

/**
 * Reports each key that isn't one of `known`.
 *
 * @returns known keys that lack a colon or a blank, `{ type:session }` or `{ clientId x }`; they are reported
 */
export function reportUnknown(map: YamlMap, at: At, rules: Known): ReadonlySet<string> {
  const glued = new Set<string>();
  const unknown = Object.keys(map).filter((key) => {
    if (rules.known.includes(key)) return false;
    const [, name = '', next] = /^([A-Za-z]+)([:\s])/.exec(key) ?? [];
    if (!rules.known.includes(name)) return true;
    glued.add(name);
    at.below(name).report(next === ':' ? 'needs a space after its colon' : 'needs a colon after it');
    return false;
  });
  if (rules.holdsSecrets === true) reportBesideSecrets(unknown, map, at, rules);
  else for (const key of unknown) reportKey(key, at, rules);
  return glued;
}

function reportKey(key: string, at: At, { known, placeOf, elsewhere = [] }: Known): void {
  const names = elsewhere.map((dotted) => dotted.slice(dotted.lastIndexOf('.') + 1));
  const sibling = nearest(key, known);
  const other = sibling === undefined ? nearest(key, names) : undefined;
  const meant = sibling === undefined ? elsewhere[names.indexOf(other ?? '')] : below(at.key, sibling);
  const place = meant === undefined ? placeOf?.(key) : undefined;
  // A stray colon at the start of a line makes a key without a name.
  at.below(key === '' ? "''" : key).report(
    `unknown key${place === undefined ? didYouMean(meant) : `; it belongs to ${place}`}`,
  );
}

/**
 * In a map that holds secrets `{ key: ab,cd }` has a key `cd` to YAML. So a key is shown only if it has a value and looks
 * like a slip of a known one, or is one of another such map.
 */
function reportBesideSecrets(unknown: readonly string[], map: YamlMap, at: At, rules: Known): void {
  const isSlip = (key: string) =>
    /^[A-Za-z_-]{1,30}$/.test(key) && !isAbsent(map[key]) && nearest(key, rules.known) !== undefined;
  const shown = unknown.filter((key) => isSlip(key) || rules.placeOf?.(key) !== undefined);
  for (const key of shown) reportKey(key, at, rules);
  if (shown.length === unknown.length) return;
  const expected = `the keys here are ${[...new Set(rules.known)].join(', ')}`;
  at.report(`holds an unknown key, which may be a part of a secret; put secrets in quotes (${expected})`);
}
