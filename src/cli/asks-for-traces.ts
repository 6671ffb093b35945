/** OpenTelemetry's own variables; one of them has each request traced. */
export const ASK_FOR_TRACES = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
