import http, { type IncomingHttpHeaders, type RequestListener } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { readTls } from './h2-upstream.ts';
import { until } from './raw-client.ts';

type Value = string | number | boolean;

/** A span as it was received; attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly failed: boolean;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly resource: Readonly<Record<string, Value>>;
}

const KINDS: Readonly<Record<number, ReceivedSpan['kind']>> = { 2: 'server', 3: 'client' };
const ERROR = 2;
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';

/** What takes traces by OTLP over HTTP, as JSON; and does so well, badly or never, by script. */
export class OtlpCollector {
  /** The status of the next answers; `hangs` gives none at all, `switches` a 101 to a protocol that nobody asked for. */
  answer: number | 'hangs' | 'switches' = 200;
  readonly spans: ReceivedSpan[] = [];
  readonly requests: {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly text: string;
  }[] = [];
  readonly #server: http.Server;

  private constructor(certificate: string | undefined) {
    const take: RequestListener = (request, response) => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const text = Buffer.concat(pieces).toString();
        this.requests.push({ path: request.url!, headers: request.headers, text });
        if (this.answer === 'hangs') return;
        if (this.answer === 'switches') return void request.socket.end(SWITCHED);
        if (this.answer === 200) this.spans.push(...spansIn(text));
        response.writeHead(this.answer, { 'content-type': 'application/json' }).end('{}');
      });
    };
    this.#server =
      certificate === undefined
        ? http.createServer(take)
        : https.createServer(
            { cert: readTls(`${certificate}.pem`), key: readTls(`${certificate}.key`) },
            take,
          );
  }

  /** @param certificate speaks TLS with that one of `tls/` */
  static async startedFor(t: Test, certificate?: string): Promise<OtlpCollector> {
    const collector = new OtlpCollector(certificate);
    await new Promise<void>((resolve) => collector.#server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => collector.stop());
    return collector;
  }

  get url(): string {
    return `${this.#server instanceof https.Server ? 'https' : 'http'}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  /** Those of one trace, the server's first and the others in the order in which they ended. */
  async trace(size: number, traceId?: string): Promise<ReceivedSpan[]> {
    const of = () => this.spans.filter((span) => traceId === undefined || span.traceId === traceId);
    await until(() => of().length >= size, `${size} spans`);
    return of().sort((a, b) => Number(b.kind === 'server') - Number(a.kind === 'server'));
  }
}

interface KeyValue {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number; readonly boolValue?: boolean };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<ReceivedSpan, 'kind' | 'attributes' | 'failed' | 'resource'> & {
        readonly kind: number;
        readonly attributes: readonly KeyValue[];
        readonly status: { readonly code: number };
      })[];
    }[];
  }[];
}

function spansIn(text: string): ReceivedSpan[] {
  return (JSON.parse(text) as Export).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ traceId, spanId, parentSpanId, traceState, name, kind, attributes, status }) => ({
        traceId,
        spanId,
        ...(parentSpanId !== undefined && { parentSpanId }),
        ...(traceState !== undefined && { traceState }),
        name,
        kind: KINDS[kind]!,
        failed: status.code === ERROR,
        attributes: byName(attributes),
        resource: byName(resource.attributes),
      })),
    ),
  );
}

function byName(pairs: readonly KeyValue[]): Record<string, Value> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue ?? '']),
  );
}
