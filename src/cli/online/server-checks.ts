import { isIP } from 'node:net';
import type { ConnectionFailure } from '../../base/failures/words.ts';
import { bareHost } from '../../config/values/addresses.ts';
import type { OutboundWay } from '../../upstream/outbound-proxy.ts';
import { EXIT } from '../exit-codes.ts';
import { type Finding, failed, passed, SERVER_STEPS, skipped } from './check-result.ts';
import type { Visit } from './server-visit.ts';

type Step = (typeof SERVER_STEPS)[number];

/** The step at which each failure shows. One that comes after all steps counts as one of the connection. */
const STEP_OF: Readonly<Record<ConnectionFailure, Step>> = {
  dns: 'dns',
  'dns-unavailable': 'dns',
  'dns-timeout': 'dns',
  'dns-elsewhere': 'dns',
  refused: 'connect',
  unroutable: 'connect',
  'connect-timeout': 'connect',
  'outbound-proxy': 'outbound-proxy',
  'tls-self-signed': 'tls',
  'tls-expired': 'tls',
  'tls-not-yet-valid': 'tls',
  'tls-wrong-name': 'tls',
  'tls-unknown-issuer': 'tls',
  'tls-certificate': 'tls',
  'tls-client-certificate': 'tls',
  'https-on-plain-port': 'tls',
  'tls-protocol': 'tls',
  'tls-timeout': 'tls',
  'tls-version': 'tls',
  'closed-connecting': 'connect',
  'tls-damaged': 'tls',
  'http-on-tls-port': 'connect',
  closed: 'connect',
  'not-http': 'connect',
  'head-too-large': 'connect',
  'answer-timeout': 'connect',
  'answer-stalled': 'connect',
  'connection-lost': 'connect',
  'no-sockets': 'connect',
  other: 'connect',
};

const DAY_MS = 86_400_000;
/** Signed assertions and certificates get less slack than this from most servers. */
const CLOCK_SLACK_MS = 30_000;
const NOT_REACHED = 'not tried, since an earlier step failed';

export interface Visited {
  readonly origin: string;
  readonly way: OutboundWay;
  readonly visit: Visit;
}

/** What one visit says of each step to one server. Pure. */
export function serverChecks({ origin, way, visit }: Visited, nowMs: number): Finding[] {
  const failure = visit.problem === undefined ? undefined : STEP_OF[visit.problem.failure];
  const failedAt = failure === undefined ? SERVER_STEPS.length : SERVER_STEPS.indexOf(failure);
  const words = wordsFor({ origin, way, visit }, nowMs);
  const steps = SERVER_STEPS.map((step, index): Finding => {
    const about = [step, origin] as const;
    if (index === failedAt) {
      const { message: detail, remedy } = visit.problem!;
      return failed(about, { detail, remedy, exitCode: EXIT.unavailable });
    }
    const { none, good } = words[step];
    if (none !== undefined) return skipped(about, none);
    const isKnown = index < failedAt || (step === 'tls' && visit.tls !== undefined);
    return isKnown ? passed(about, good) : skipped(about, NOT_REACHED);
  });
  return [...steps, clockCheck(origin, visit)];
}

/** What is said of a step that doesn't apply, and of one that succeeded. */
function wordsFor(
  { origin, way, visit: { status, silence, tls } }: Visited,
  nowMs: number,
): Readonly<Record<Step, { readonly none: string | undefined; readonly good: string }>> {
  const { protocol, hostname } = new URL(origin);
  const isAddress = isIP(bareHost(hostname)) !== 0;
  const days = tls === undefined ? 0 : Math.floor((tls.certificateEndsMs - nowMs) / DAY_MS);
  return {
    'outbound-proxy': {
      none: way.proxy === undefined ? way.why : undefined,
      good: `${way.proxy?.host} opens a tunnel`,
    },
    dns: {
      none:
        way.proxy !== undefined
          ? 'the outbound proxy looks the name up'
          : isAddress
            ? 'the URL has an address, and no name'
            : undefined,
      good: 'the name can be resolved',
    },
    connect: {
      none: undefined,
      good:
        status !== undefined
          ? `it answers (status ${status})`
          : silence === undefined
            ? 'connected'
            : `connected, and ${silence}; some servers answer no HEAD`,
    },
    tls: {
      none: protocol === 'http:' ? 'the URL says http://' : undefined,
      good: `${tls?.protocol}; the certificate ends in ${days} ${days === 1 ? 'day' : 'days'}`,
    },
  };
}

function clockCheck(origin: string, { problem, silence, clockAheadMs }: Visit): Finding {
  const about = ['clock', origin] as const;
  if (problem !== undefined) return skipped(about, NOT_REACHED);
  if (silence !== undefined) return skipped(about, 'not seen, since there was no answer');
  if (clockAheadMs === undefined) return skipped(about, 'the server does not tell its time');
  if (Math.abs(clockAheadMs) <= CLOCK_SLACK_MS) return passed(about, "it agrees with the server's");
  const seconds = Math.round(Math.abs(clockAheadMs) / 1000);
  return failed(about, {
    detail: `this machine's clock is ${seconds} s ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the server's`,
    remedy: 'Set it, best by NTP: certificates and signed assertions depend on it.',
    exitCode: EXIT.failed,
  });
}
