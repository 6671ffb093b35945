import { isCounted, type Observe, type RequestEvent } from '../base/events.ts';
import { describe } from './event-line.ts';
import { hundredths } from './hundredths.ts';

type Write = (fields: object, message: string) => void;

/** The logger of the host program: pino's, Fastify's `app.log`, or any other with these three methods. */
export interface HostLog {
  info: Write;
  warn: Write;
  error: Write;
}

/** Logs each event with the host's logger, with the fields of bearerd's own log. */
export function observerFor(log: HostLog): Observe {
  return (event) => {
    if (event.type === 'request') {
      log.info(requestFields(event), 'request');
      return;
    }
    if (isCounted(event)) return;
    if (event.type === 'sink-failed' && event.again) return; // The first failure was logged.
    const [severity, fields, message] = describe(event);
    log[severity](fields, message);
  };
}

/** As in the line that `log.ts` writes. */
function requestFields(event: RequestEvent): object {
  const { method, path, route, credential, status, durationMs, bytesIn, bytesOut, requestId } = event;
  const { caller, code, limitedBy, aborted, closedBy, scrubbed, trace } = event;
  return {
    method,
    path,
    route,
    credential,
    status,
    durationMs: hundredths(durationMs),
    bytesIn,
    bytesOut,
    requestId,
    ...(caller && { caller }),
    ...(code !== undefined && { code }),
    ...(limitedBy !== undefined && { limitedBy }),
    ...(aborted && { aborted: true }),
    ...(closedBy !== undefined && { closedBy }),
    ...(scrubbed === true && { scrubbed: true }),
    ...(trace !== undefined && { trace_id: trace.traceId, span_id: trace.spanId }),
  };
}
