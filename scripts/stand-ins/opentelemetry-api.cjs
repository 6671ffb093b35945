// OpenTelemetry as prom-client asks for it: for the exemplars of its process metrics alone, which are never switched on.
// The real one is loaded where traces are asked for, and only there.
module.exports = {};
