import type { EventBus } from '../base/events.ts';
import type { OpenTelemetry } from '../integrations/otel/open-telemetry.ts';
import type { Log } from '../observe/log.ts';

/** OpenTelemetry's own variables; with one of them each request is traced. */
export const ASK_FOR_TRACES = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** Traces each request if OpenTelemetry's own variables ask for it; else loads no code for it. */
export async function tracesAskedFor(events: EventBus, log: Log): Promise<OpenTelemetry | undefined> {
  if (ASK_FOR_TRACES.every((name) => (process.env[name] ?? '') === '')) return undefined;
  const { tracingWish } = await import('../integrations/otel/wish.ts');
  const wish = tracingWish(process.env);
  if (wish.kind === 'off') {
    if (wish.why !== undefined) log.warn({}, `no traces are sent: ${wish.why}`);
    return undefined;
  }
  for (const note of wish.notes) log.warn({}, note);
  try {
    const { OpenTelemetry } = await import('../integrations/otel/open-telemetry.ts');
    const traces = new OpenTelemetry(wish.collector, events.emit);
    events.subscribe(traces.observe);
    log.info({ collector: wish.collector }, 'each request is traced');
    return traces;
  } catch (error) {
    const { code, name, path } = error as NodeJS.ErrnoException;
    log.warn({ path, code: code ?? name }, "no traces are sent: what an OTEL_ variable names can't be used");
    return undefined;
  }
}
