import type { Secret } from '../../base/secret.ts';
import { mapOf, type Named, valuesOf } from '../shapes/collections.ts';
import { type Declared, object } from '../shapes/object.ts';
import { type GivenSecret, secret } from '../shapes/secret.ts';
import { insteadOf } from '../values/nearest.ts';
import * as kinds from '../values/vocabulary.ts';
import { NAMES, nameProblem } from './credentials/credential.ts';

export const CALLER = object({
  key: { kind: secret('header'), required: true, description: 'what it sends to be known' },
  routes: {
    kind: kinds.routeNames,
    description:
      'the routes that it may use, each by its prefix, exactly as the route has it (//HOST/PREFIX where it has a host); all unless given',
  },
  limit: {
    kind: kinds.rate,
    description:
      'how many requests it may send: N/DURATION, such as 60/1m; past it 429; no limit unless given',
  },
});

export const CALLERS = mapOf({ of: CALLER, nameProblem, schema: NAMES });

type DeclaredCaller = Declared<typeof CALLER.fields>;

export interface Callers {
  /** `callerKey`, for callers without a name. */
  readonly unnamed: GivenSecret | undefined;
  readonly named: Named<DeclaredCaller>;
}

export function asksForKey({ unnamed, named }: Callers): boolean {
  return unnamed !== undefined || named.size > 0;
}

/**
 * Rules that need all of the configuration: routes must exist, and keys must differ, since only the key identifies a
 * caller.
 *
 * @param names of the routes; undefined if not all are known
 */
export function checkCallers({ unnamed, named }: Callers, names: readonly string[] | undefined): void {
  const others: GivenSecret[] = unnamed === undefined ? [] : [unnamed];
  for (const { at, value } of named.values()) {
    const { key: secret, routes = [] } = value ?? {};
    const place = at.below('key');
    const other = secret && others.find((each) => secret.equals(each.secret));
    if (other !== undefined) place.report(`is the same as ${other.key}; each needs its own`);
    others.push({ key: place.key, secret });
    if (names === undefined) continue;
    for (const name of routes.filter((each) => !names.includes(each))) {
      at.below('routes').report(`${name} is not the prefix of a route ${insteadOf(name, names)}`);
    }
  }
}

/** A caller, recognised by its key. */
export interface CallerConfig extends Omit<DeclaredCaller, 'key'> {
  readonly name: string;
  readonly key: Secret;
}

export interface CallersInForce {
  /** The key of callers without a name. */
  readonly callerKey?: Secret;
  readonly callers: readonly CallerConfig[];
}

/** Called if there is no fault. */
export function callersInForce({ unnamed, named }: Callers): CallersInForce {
  const callers = Object.entries(valuesOf(named)).flatMap(([name, { key, ...rest }]): CallerConfig[] =>
    key === undefined ? [] : [{ name, key, ...rest }],
  );
  return { callers, ...(unnamed?.secret && { callerKey: unnamed.secret }) };
}
