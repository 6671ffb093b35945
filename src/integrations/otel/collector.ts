import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Observe } from '../../base/events.ts';
import { connectionFailureOf } from '../../base/failures/kind.ts';
import { CONNECTION_FAILURES } from '../../base/failures/words.ts';
import { Secret } from '../../base/secret.ts';
import { lazySecureContext } from '../../upstream/secure-context.ts';
import { specific } from './wish.ts';

/** A channel of `node:http`. */
const REQUEST_STARTS = 'http.client.request.start';

/**
 * The SDK's exporter. It reports once when spans begin to be lost, and once when the collector accepts them again. It
 * has its own connections: credentials and outbound proxies of the upstream are not used for it.
 */
export class Collector implements SpanExporter {
  readonly #exporter: OTLPTraceExporter;
  readonly #observe: Observe;
  readonly #address: string;
  readonly #mostQueued: number;
  readonly #stopWatching: () => void;
  /** Spans that have ended and are not being sent yet. */
  #queued = 0;
  #overflowed = false;
  #loses = false;

  /**
   * @param address the collector's URL, without secrets
   * @param mostQueued the length of the SDK's queue
   * @throws if a file that the environment names can't be read
   */
  constructor(address: string, mostQueued: number, observe: Observe) {
    this.#address = address;
    this.#mostQueued = mostQueued;
    this.#observe = observe;
    const agent = agentFor(new URL(address).protocol);
    this.#stopWatching = failAtSwitch(agent);
    this.#exporter = new OTLPTraceExporter({ httpAgentOptions: () => agent });
  }

  /** Counts a span that has ended. The SDK's queue drops spans without notice when it is full: that is reported once. */
  queue(): void {
    if (this.#queued < this.#mostQueued) {
      this.#queued++;
    } else if (!this.#overflowed) {
      this.#overflowed = true;
      this.#report('accepts spans more slowly than they end');
    }
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#queued -= spans.length;
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#takes();
      else this.reportLoss(reason(result.error));
      done(result);
    });
  }

  #takes(): void {
    if (!this.#loses) return;
    this.#loses = false;
    this.#observe({ type: 'traces-resumed', collector: this.#address });
  }

  /** The last spans that were sent were lost. */
  get loses(): boolean {
    return this.#loses;
  }

  /** @param why a part of a sentence whose subject is the collector */
  reportLoss(why: string): void {
    if (this.#loses) return;
    this.#loses = true;
    this.#report(why);
  }

  #report(why: string): void {
    this.#observe({ type: 'traces-lost', collector: this.#address, why });
  }

  async shutdown(): Promise<void> {
    await this.#exporter.shutdown();
    this.#stopWatching();
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }
}

/** The SDK's agent would obey NODE_TLS_REJECT_UNAUTHORIZED=0, and does not trust the system's authorities. */
function agentFor(protocol: string): http.Agent {
  if (protocol === 'http:') return new http.Agent({ keepAlive: true });
  const [ca, cert, key] = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].map(fileNamedBy);
  const secureContext = lazySecureContext({
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert: new Secret(cert) }),
    ...(key !== undefined && { key: new Secret(key) }),
  })();
  return new https.Agent({ keepAlive: true, rejectUnauthorized: true, secureContext });
}

/**
 * Fails the agent's requests that are answered with a 101, of which Node tells by `upgrade` alone. The SDK does not listen
 * to that: it would wait for ever, and after 30 such answers export nothing any more.
 *
 * @returns stops that
 */
function failAtSwitch(agent: http.Agent): () => void {
  const watch = (message: unknown) => {
    const { request } = message as { readonly request: http.ClientRequest & { readonly agent?: http.Agent } };
    if (request.agent !== agent) return;
    request.once('upgrade', ({ statusCode }, socket) => {
      socket.destroy();
      request.emit('error', Object.assign(new Error('a 101'), { code: statusCode }));
    });
  };
  subscribe(REQUEST_STARTS, watch);
  return () => unsubscribe(REQUEST_STARTS, watch);
}

function fileNamedBy(name: string): string | undefined {
  const path = specific(process.env, name)?.value;
  return path === undefined ? undefined : readFileSync(path, 'utf8');
}

/** Why an export failed, in bearerd's words: an SDK error may quote the collector. */
function reason(error: (Error & { readonly code?: unknown }) | undefined): string {
  const code = error?.code;
  if (code === 401 || code === 403) return `refuses them (${code}): check OTEL_EXPORTER_OTLP_HEADERS`;
  if (code === 404 || code === 405)
    return `has no traces endpoint there (${code}): check the path of the URL`;
  if (typeof code === 'number') return `answers with the status ${code}`;
  if (typeof code === 'string') return CONNECTION_FAILURES[connectionFailureOf(error)].what;
  // An SDK error without a status stands for one of the statuses that mean "try again".
  if (error?.name === 'OTLPExporterError') return 'accepts no spans at present (429, 502, 503 or 504)';
  // The SDK's timeout is a plain `Error`.
  return error?.name === 'Error'
    ? CONNECTION_FAILURES['answer-timeout'].what
    : `can't be asked (${error?.name})`;
}
