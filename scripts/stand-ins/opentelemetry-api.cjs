// The OpenTelemetry API for prom-client, which uses it only for exemplars of its process metrics. These are off. The real
// API is loaded only for traces.
module.exports = {};
