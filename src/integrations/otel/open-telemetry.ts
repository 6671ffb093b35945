import type { IncomingMessage } from 'node:http';
import type { Tracer } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import type { Event, Observe, RequestEvent } from '../../base/events.ts';
import { VERSION } from '../../base/version.ts';
import type { RequestTrace, Tracing } from '../../forward/trace.ts';
import { Collector } from './collector.ts';
import { RequestSpan } from './request-span.ts';

/** The time limit for the last spans when bearerd stops: a collector may delay the stop by 5 s at most, all included. */
const CLOSE_LIMIT_MS = 4_500;
/** The same, if the collector did not accept the spans before. */
const LOST_LIMIT_MS = 1_000;

/** The SDK's default for OTEL_BSP_MAX_QUEUE_SIZE. */
const MOST_QUEUED = 2_048;

/** The SDK's queue. It tells the collector of each span, so that the collector knows the length of the queue. */
class Batches extends BatchSpanProcessor {
  readonly #collector: Collector;

  constructor(collector: Collector, maxQueueSize: number) {
    super(collector, { maxQueueSize });
    this.#collector = collector;
  }

  override onEnd(span: ReadableSpan): void {
    this.#collector.queue();
    super.onEnd(span);
  }
}

/** Traces by the OpenTelemetry SDK, which reads its own variables. Registers nothing globally. */
export class OpenTelemetry implements Tracing {
  readonly #collector: Collector;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;

  /**
   * @param address the collector's URL, without secrets
   * @param observe gets an event when spans are lost
   * @throws if a file that the environment names can't be read
   */
  constructor(address: string, observe: Observe) {
    const maxQueueSize = Number(process.env.OTEL_BSP_MAX_QUEUE_SIZE) || MOST_QUEUED;
    this.#collector = new Collector(address, maxQueueSize, observe);
    this.#provider = new BasicTracerProvider({
      // The last one wins: the operator's OTEL_SERVICE_NAME.
      resource: defaultResource()
        .merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: 'bearerd', [ATTR_SERVICE_VERSION]: VERSION }))
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new Batches(this.#collector, maxQueueSize)],
    });
    this.#tracer = this.#provider.getTracer('bearerd', VERSION);
  }

  begin(request: IncomingMessage, event: RequestEvent): RequestTrace {
    return new RequestSpan(this.#tracer, request, event);
  }

  readonly observe = (event: Event): void => {
    if (event.type === 'request' && event.trace instanceof RequestSpan) event.trace.end(event);
  };

  /** Sends the remaining spans within the limit. @returns false if the limit came first */
  async close(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.#collector.loses ? LOST_LIMIT_MS : CLOSE_LIMIT_MS);
    });
    // The collector has reported a failure already.
    const sent = this.#provider.shutdown().catch(() => {});
    const outcome = await Promise.race([sent, late]);
    clearTimeout(timer);
    if (outcome !== 'late') return true;
    this.#collector.reportLoss('did not answer before bearerd stopped');
    return false;
  }
}
