import { Counter, Histogram, type Registry } from 'prom-client';
import type { Event, RequestEvent } from '../base/events.ts';
import type { LoginFailure } from '../base/login-error.ts';
import { SECONDS } from './request-metrics.ts';

const RELOADS = { reloaded: 'ok', 'reload-refused': 'refused', 'secret-trouble': 'unusable' } as const;
const LOGIN_RESULTS = [
  'ok',
  'unreachable',
  'server-error',
  'rate-limited',
  'unusable',
  'redirected',
  'refused',
] as const satisfies readonly ('ok' | LoginFailure)[];

type Other = Exclude<Event, RequestEvent>;
type Counting = { readonly [T in Other['type']]?: (event: Extract<Other, { type: T }>) => void };

/** Counts all events but requests, each kind in its own way. */
export function createEventCounters(registry: Registry): (event: Other) => void {
  const counting: Counting = {
    ...logins([registry]),
    ...failures([registry]),
    ...reloads([registry]),
    ...sinkWrites([registry]),
    ...secretCommands([registry]),
    ...shareOperations([registry]),
  };
  // Each kind has its own function, which the compiler can't follow from the event to the table.
  return (event) => (counting[event.type] as ((event: Other) => void) | undefined)?.(event);
}

function logins(registers: Registry[]): Counting {
  const ended = new Counter({
    name: 'bearerd_logins_total',
    help: 'Logins, by credential and result (ok, or the class of the failure).',
    labelNames: ['credential', 'result'],
    registers,
  });
  const duration = new Histogram({
    name: 'bearerd_login_duration_seconds',
    help: 'Duration of a login, failed ones included.',
    labelNames: ['credential'],
    buckets: SECONDS,
    registers,
  });
  const count = (credential: string, result: 'ok' | LoginFailure, durationMs: number) => {
    countResult(ended, { credential }, result, LOGIN_RESULTS);
    duration.observe({ credential }, durationMs / 1000);
  };
  // A login of another instance, and one that another instance held back, was not made here.
  return {
    'login-succeeded': ({ taken, credential, durationMs }) => {
      if (!taken) count(credential, 'ok', durationMs);
    },
    'login-failed': ({ error, credential, durationMs }) => {
      if (!error.heldBack) count(credential, error.code, durationMs);
    },
  };
}

function failures(registers: Registry[]): Counting {
  const upstreamErrors = new Counter({
    name: 'bearerd_upstream_errors_total',
    help: 'Requests that the upstream left without a whole answer, by problem code.',
    labelNames: ['code'],
    registers,
  });
  const internalErrors = new Counter({
    name: 'bearerd_internal_errors_total',
    help: 'Faults of bearerd or of a library that it has survived.',
    registers,
  });
  return {
    'upstream-failed': ({ code }) => upstreamErrors.inc({ code }),
    'internal-error': () => internalErrors.inc(),
  };
}

function reloads(registers: Registry[]): Counting {
  const counter = new Counter({
    name: 'bearerd_config_reloads_total',
    help: 'Reloads, by result (ok, refused, or unusable for a secret file that is missing, empty or unreadable).',
    labelNames: ['result'],
    registers,
  });
  for (const result of Object.values(RELOADS)) counter.inc({ result }, 0);
  const count = ({ type }: { readonly type: keyof typeof RELOADS }) => counter.inc({ result: RELOADS[type] });
  return { reloaded: count, 'reload-refused': count, 'secret-trouble': count };
}

const ENDINGS = ['ok', 'failed'];

function sinkWrites(registers: Registry[]): Counting {
  const counter = new Counter({
    name: 'bearerd_sink_writes_total',
    help: 'Writes to places outside of bearerd that hold a credential, by result (ok, failed).',
    labelNames: ['sink', 'result'],
    registers,
  });
  return {
    'sink-written': ({ sink }) => countResult(counter, { sink }, 'ok', ENDINGS),
    'sink-failed': ({ sink }) => countResult(counter, { sink }, 'failed', ENDINGS),
  };
}

function secretCommands(registers: Registry[]): Counting {
  const counter = new Counter({
    name: 'bearerd_secret_commands_total',
    help: 'Runs of a command that prints a secret, by result (ok, failed).',
    labelNames: ['key', 'result'],
    registers,
  });
  return {
    'secret-command': ({ key, result }) => countResult(counter, { key }, result, ENDINGS),
  };
}

/** Prometheus sees no increase in the first sample of a series, so the series of all results begin at the first result. */
function countResult<L extends string>(
  counter: Counter<L | 'result'>,
  labels: Readonly<Record<L, string>>,
  result: string,
  results: readonly string[],
): void {
  for (const each of results)
    counter.inc({ ...labels, result: each } as Record<L | 'result', string>, each === result ? 1 : 0);
}

/** The counter exists only if tokens are shared. */
function shareOperations(registers: Registry[]): Counting {
  let counter: Counter<'op' | 'result'> | undefined;
  return {
    'share-operation': ({ op, result }) => {
      counter ??= new Counter({
        name: 'bearerd_share_operations_total',
        help: 'What was asked of the engine that tokens are shared by, by operation and result (gone: no answer).',
        labelNames: ['op', 'result'],
        registers,
      });
      counter.inc({ op, result });
    },
  };
}
