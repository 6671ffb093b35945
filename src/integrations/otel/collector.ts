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

/**
 * The SDK's exporter, which says once when it begins to lose spans, and once when that is over. Its connections are its
 * own: nothing of what bearerd sends upstream, credential or outbound proxy, has to do with them.
 */
export class Collector implements SpanExporter {
  readonly #exporter: OTLPTraceExporter;
  readonly #observe: Observe;
  readonly #address: string;
  readonly #mostQueued: number;
  /** Spans that have ended and are not being sent yet. */
  #queued = 0;
  #overflowed = false;
  #loses = false;

  /**
   * @param address as it may be shown
   * @param mostQueued so many spans wait for it, and no more
   * @throws where a file that the environment names can't be read
   */
  constructor(address: string, mostQueued: number, observe: Observe) {
    this.#address = address;
    this.#mostQueued = mostQueued;
    this.#observe = observe;
    const agent = agentFor(new URL(address).protocol);
    this.#exporter = new OTLPTraceExporter({ httpAgentOptions: () => agent });
  }

  /** A span has ended. The SDK's queue drops in silence what is too much for it: told once, since it may go on for long. */
  queue(): void {
    if (this.#queued < this.#mostQueued) {
      this.#queued++;
    } else if (!this.#overflowed) {
      this.#overflowed = true;
      this.#tell('takes them more slowly than they come');
    }
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#queued -= spans.length;
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#takes();
      else this.tellLoss(reason(result.error));
      done(result);
    });
  }

  #takes(): void {
    if (!this.#loses) return;
    this.#loses = false;
    this.#observe({ type: 'traces-resumed', collector: this.#address });
  }

  /** The last that was sent was lost. */
  get loses(): boolean {
    return this.#loses;
  }

  /** @param why its subject is the collector */
  tellLoss(why: string): void {
    if (this.#loses) return;
    this.#loses = true;
    this.#tell(why);
  }

  #tell(why: string): void {
    this.#observe({ type: 'traces-lost', collector: this.#address, why });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush();
  }
}

/** Our own agent: the SDK's obeys NODE_TLS_REJECT_UNAUTHORIZED=0 and does not know the system's authorities. */
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

function fileNamedBy(name: string): string | undefined {
  const path = specific(process.env, name)?.value;
  return path === undefined ? undefined : readFileSync(path, 'utf8');
}

/** In words of ours: what a library says may hold what a collector said. */
function reason(error: (Error & { readonly code?: unknown }) | undefined): string {
  const code = error?.code;
  if (code === 401 || code === 403) return `refuses them (${code}): check OTEL_EXPORTER_OTLP_HEADERS`;
  if (code === 404 || code === 405) return `takes none there (${code}): check the path of the URL`;
  if (typeof code === 'number') return `answers with the status ${code}`;
  if (typeof code === 'string') return CONNECTION_FAILURES[connectionFailureOf(error)].what;
  // The SDK's own error, without a status, stands for one that means "not now".
  if (error?.name === 'OTLPExporterError') return 'takes none at present (429, 502, 503 or 504)';
  // It has no name of its own for a timeout.
  return error?.name === 'Error'
    ? CONNECTION_FAILURES['answer-timeout'].what
    : `can't be asked (${error?.name})`;
}
