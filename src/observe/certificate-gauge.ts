import { Gauge, type Registry } from 'prom-client';

/** There only where clients speak TLS: a time of 0 would look long past. @param expiryMs epoch milliseconds */
export function registerCertificateGauge(registry: Registry, expiryMs: () => number): void {
  new Gauge({
    name: 'bearerd_tls_certificate_expiry_timestamp_seconds',
    help: 'When the certificate that clients see, or another one of its chain, expires (Unix time).',
    registers: [registry],
    collect() {
      this.set(expiryMs() / 1000);
    },
  });
}
