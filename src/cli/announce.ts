import type { Gateway } from '../app/gateway.ts';
import { VERSION } from '../base/version.ts';
import type { Log } from '../observe/log.ts';

/** What a user wants to know after the start: where it listens, and where each request goes with which account. */
export function announce({ urls, adminUrls, probeUrls, status }: Gateway, upstream: string, log: Log): void {
  const page = adminUrls.find((url) => url.startsWith('http'));
  const probes = probeUrls.length > 0 && { probes: probeUrls };
  log.info(
    { version: VERSION, urls, admin: adminUrls, ...probes, upstream },
    `listening on ${urls.join(', ')}`,
  );
  if (page !== undefined) log.info({}, `status page at ${page}/`);
  for (const url of probeUrls) log.info({}, `probes at ${url}/healthz and ${url}/readyz`);
  for (const { prefix, credential, upstream: target } of status.routes) {
    log.info({ credential, ...(credential !== 'deny' && { upstream: target }) }, `route ${prefix}`);
  }
  for (const [name, { kind, state }] of Object.entries(status.credentials)) {
    log.info({ kind, state }, `credential ${name}`);
  }
}
