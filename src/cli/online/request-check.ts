import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { Gateway } from '../../app/gateway.ts';
import { type Event, EventBus, type RequestEvent } from '../../base/events.ts';
import { PROBLEM_REMEDIES } from '../../base/failures/problem-remedies.ts';
import { statusRemedy } from '../../base/failures/status-words.ts';
import { PROBLEMS } from '../../base/problem.ts';
import { Secret } from '../../base/secret.ts';
import type { Config } from '../../config/config.ts';
import { EXIT } from '../exit-codes.ts';
import { endingInOrder } from '../signals.ts';
import { type Finding, failed, passed } from './check-result.ts';
import { sentAs, whatWasSent } from './what-was-sent.ts';

/** The event of a request comes as soon as the proxy sees that the client has gone. */
const TOLD_WITHIN_MS = 5_000;

/** Sends one request through a proxy of its own, so that route, credential and answer are those of the product. */
export async function requestCheck(config: Config, method: string, target: string): Promise<Finding> {
  const key = randomBytes(32).toString('hex');
  const told: Event[] = [];
  const over = Promise.withResolvers<RequestEvent>();
  const events = new EventBus((event) => {
    told.push(event);
    if (event.type === 'request') over.resolve(event);
  });
  const gateway = new Gateway({ config: forOneRequest(config, key), events });
  return endingInOrder(async () => {
    try {
      await gateway.start();
      await send(gateway.urls[0]!, method, target, key);
      const request = await Promise.race([over.promise, sleep(TOLD_WITHIN_MS)]);
      if (request === undefined) throw new Error('the request is not over');
      return judge(config, [`request`, `${method} ${target}`], request, told);
    } finally {
      await gateway.destroy();
    }
  });
}

/** On a port of its own, for this check alone. Only the proxy that runs writes to sinks and shares tokens. */
export function forOneRequest(config: Config, key: string): Config {
  const { listenTls: _, share: _share, ...rest } = config;
  const listen = [{ kind: 'tcp', host: '127.0.0.1', port: 0 }] as const;
  return {
    ...rest,
    listen,
    adminListen: [],
    probesListen: [],
    callerKey: new Secret(key),
    callers: [],
    sinks: [],
  };
}

/** The head of the answer says enough: a body may never end. */
async function send(url: string, method: string, target: string, key: string): Promise<void> {
  const client = new Client(url, { headersTimeout: 0 });
  try {
    const { body } = await client.request({
      method: method as 'GET',
      path: target,
      headers: { 'x-bearerd-key': key },
    });
    body.on('error', () => {}).destroy();
  } finally {
    await client.destroy();
  }
}

/** What came of it. Pure. */
function judge(
  config: Config,
  about: readonly ['request', string],
  { status, code, route, credential, durationMs, remedy }: RequestEvent,
  told: readonly Event[],
): Finding {
  const way = route === '' ? 'no route' : `route ${route}, credential ${credential}`;
  const seen = `${way}, ${Math.round(durationMs)} ms`;
  if (code === undefined) {
    if (status < 400) return passed(about, `the upstream answers with status ${status} (${seen})`);
    const sent = route === '' ? '' : `, sent ${whatWasSent(config, credential)}`;
    const detail = `the upstream answers with status ${status} (${seen}${sent})`;
    // Its token comes from a login of this check: a newer one would be refused, too.
    const remedyOfStatus = statusRemedy(status, sentAs(config, credential), true);
    return failed(about, { detail, remedy: remedyOfStatus, exitCode: EXIT.failed });
  }
  const failure = told.find((event) => event.type === 'upstream-failed');
  const words = failure?.detail ?? PROBLEMS[code].detail;
  return failed(about, {
    detail: `bearerd answers with status ${status} ${code} (${seen}): ${words.replace(/\.$/, '')}`,
    remedy: failure?.remedy ?? remedy ?? PROBLEM_REMEDIES[code],
    exitCode: status >= 500 ? EXIT.unavailable : EXIT.failed,
  });
}
