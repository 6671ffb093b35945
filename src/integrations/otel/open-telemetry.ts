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

/** So long the last spans may take at the end. A little less than is promised, for what else there is to do. */
const CLOSE_LIMIT_MS = 4_500;
/** From a collector that took nothing before, little is to be hoped for. */
const LOST_LIMIT_MS = 1_000;

/** As in the SDK, where OTEL_BSP_MAX_QUEUE_SIZE says nothing. */
const MOST_QUEUED = 2_048;

/** The SDK's queue, whose collector is to know how much is in it. */
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

/** Traces by the OpenTelemetry SDK, which reads its variables for itself. Nothing is registered globally. */
export class OpenTelemetry implements Tracing {
  readonly #collector: Collector;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;

  /**
   * @param address of the collector, as it may be shown
   * @param observe is told when spans are lost
   * @throws where a file that the environment names can't be read
   */
  constructor(address: string, observe: Observe) {
    const maxQueueSize = Number(process.env.OTEL_BSP_MAX_QUEUE_SIZE) || MOST_QUEUED;
    this.#collector = new Collector(address, maxQueueSize, observe);
    this.#provider = new BasicTracerProvider({
      // What comes later wins: the operator's OTEL_SERVICE_NAME.
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

  /** Sends what is left, within a limit. @returns false where it was not all sent by then, and is still being tried */
  async close(): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), this.#collector.loses ? LOST_LIMIT_MS : CLOSE_LIMIT_MS);
    });
    // A failure has been told of by the collector.
    const sent = this.#provider.shutdown().catch(() => {});
    const outcome = await Promise.race([sent, late]);
    clearTimeout(timer);
    if (outcome !== 'late') return true;
    this.#collector.tellLoss('gave no answer before the end');
    return false;
  }
}
