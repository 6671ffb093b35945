import type { Clock } from '../base/clock.ts';
import type { RequestEvent } from '../base/events.ts';
import type { LimitStatus } from '../base/limit-status.ts';
import { Problem } from '../base/problem.ts';
import type { CallerConfig } from '../config/sections/callers.ts';
import { formatRate, type RateLimit } from '../config/values/rates.ts';
import type { Route } from '../routes/route-table.ts';
import { type Admission, type Admit, admit } from './admission.ts';
import { RateBucket } from './rate-bucket.ts';

/** What may have a limit, and the clock. */
interface RateLimitOptions {
  readonly routes: readonly Route[];
  readonly callers: readonly CallerConfig[];
  readonly clock: Pick<Clock, 'monoMs'>;
}

type Buckets = ReadonlyMap<string, RateBucket>;

const DETAILS = {
  route: 'More requests took this route than its limit allows. Retry-After says when the next one passes.',
  caller: 'This caller sent more requests than its limit allows. Retry-After says when the next one passes.',
} as const;

/** The rate limits of one configuration. They see only requests that every guard lets pass. */
export class RateLimits {
  readonly #clock: RateLimitOptions['clock'];
  readonly #routes: Buckets;
  readonly #callers: Buckets;

  /** @param before the limits in force so far: what is used of a limit stays used if the limit is the same */
  constructor({ routes, callers, clock }: RateLimitOptions, before?: RateLimits) {
    this.#clock = clock;
    const nowMs = clock.monoMs();
    this.#routes = bucketsOf(
      routes.map(({ name, limit }) => [name, limit]),
      nowMs,
      before === undefined ? undefined : before.#routes,
    );
    this.#callers = bucketsOf(
      callers.map(({ name, limit }) => [name, limit]),
      nowMs,
      before === undefined ? undefined : before.#callers,
    );
  }

  get none(): boolean {
    return this.#routes.size === 0 && this.#callers.size === 0;
  }

  /** `admit`, with the limits applied to what it would forward. */
  readonly admit: Admit = (request, target, rules, event) => {
    const admission = admit(request, target, rules, event);
    return admission.kind === 'forward' ? this.#limit(admission, event) : admission;
  };

  /** Asks both buckets before it takes from either: a request that one refuses costs nothing in the other. */
  #limit(admission: Extract<Admission, { kind: 'forward' }>, event: RequestEvent): Admission {
    const ofRoute = this.#routes.get(event.route);
    const ofCaller = this.#callers.get(event.caller ?? '');
    const nowMs = this.#clock.monoMs();
    const routeMs = ofRoute?.waitMs(nowMs) ?? 0;
    const callerMs = ofCaller?.waitMs(nowMs) ?? 0;
    const waitMs = Math.max(routeMs, callerMs);
    if (waitMs === 0) {
      ofRoute?.take();
      ofCaller?.take();
      return admission;
    }
    event.limitedBy = callerMs > routeMs ? 'caller' : 'route';
    const problem = new Problem('rate-limited', {
      detail: DETAILS[event.limitedBy],
      remedy: `Call again when Retry-After says, and less often; or raise the limit of the ${event.limitedBy}.`,
      retryAfterS: Math.ceil(waitMs / 1_000),
    });
    return { kind: 'refuse', problem, corsOrigin: admission.corsOrigin };
  }

  /** Undefined if there are no limits. */
  get status(): readonly LimitStatus[] | undefined {
    if (this.none) return undefined;
    const nowMs = this.#clock.monoMs();
    const shown = (bucket: RateBucket) => ({ limit: formatRate(bucket.limit), left: bucket.left(nowMs) });
    return [
      ...[...this.#routes].map(([route, bucket]) => ({ route, ...shown(bucket) })),
      ...[...this.#callers].map(([caller, bucket]) => ({ caller, ...shown(bucket) })),
    ];
  }
}

function bucketsOf(
  limits: readonly (readonly [string, RateLimit | undefined])[],
  nowMs: number,
  before: Buckets | undefined,
): Buckets {
  const buckets = new Map<string, RateBucket>();
  for (const [name, limit] of limits) {
    if (limit === undefined) continue;
    const known = before?.get(name);
    buckets.set(name, known && isSame(known.limit, limit) ? known : new RateBucket(limit, nowMs));
  }
  return buckets;
}

function isSame(one: RateLimit, other: RateLimit): boolean {
  return one.requests === other.requests && one.perMs === other.perMs;
}
