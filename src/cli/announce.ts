import type { Gateway } from '../app/gateway.ts';
import { VERSION } from '../base/version.ts';
import type { Config } from '../config/config.ts';
import { ENGINE_WORDS } from '../config/sections/share.ts';
import { sinkLabel, sinkWords } from '../config/sections/sink-config.ts';
import { isRemotelyReachable } from '../config/values/addresses.ts';
import { asksForKey } from '../listen/callers.ts';
import { LOOSENING_WORDS, looseningOptions } from '../node/loosening.ts';
import type { Log } from '../observe/log.ts';

/** Logs at the start where the proxy listens, where each request goes with which credential, and what is risky. */
export function announce(gateway: Gateway, config: Config, log: Log): void {
  announceAddresses(gateway, config, log);
  announceRoutes(gateway, log);
  // The file may be of another environment, or be thought to count.
  if (config.dotEnv === 'ignored') log.info({}, '.env is not read, since a configuration file is named');
  warnOfExposure(config, log);
  announcePlaces(config, log);
}

function announceAddresses({ urls, adminUrls, probeUrls }: Gateway, { upstream }: Config, log: Log): void {
  const page = adminUrls.find((url) => url.startsWith('http'));
  const probes = probeUrls.length > 0 && { probes: probeUrls };
  log.info(
    { version: VERSION, urls, admin: adminUrls, ...probes, upstream: upstream.origin + upstream.basePath },
    `listening on ${urls.join(', ')}`,
  );
  if (page !== undefined) log.info({}, `status page at ${page}/`);
  for (const url of probeUrls) log.info({}, `probes at ${url}/healthz and ${url}/readyz`);
}

function announceRoutes({ status }: Gateway, log: Log): void {
  for (const { prefix, credential, upstream } of status.routes) {
    log.info({ credential, ...(credential !== 'deny' && { upstream }) }, `route ${prefix}`);
  }
  for (const [name, { kind, state }] of Object.entries(status.credentials)) {
    log.info({ kind, state }, `credential ${name}`);
  }
}

/** The settings that an operator may have made without seeing what they open. */
function warnOfExposure(config: Config, log: Log): void {
  if (config.listen.some(isRemotelyReachable) && !asksForKey(config)) {
    log.warn({}, 'anyone who reaches this port acts as the configured account: no caller key is set');
  }
  if (process.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    log.warn({}, 'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: certificates are verified all the same');
  }
  for (const option of looseningOptions()) log.warn({ option }, `${option} ${LOOSENING_WORDS}`);
}

/** The places outside this process that hold a credential. */
function announcePlaces({ share, sinks }: Config, log: Log): void {
  if (share !== undefined) log.info({}, ENGINE_WORDS);
  for (const sink of sinks) log.info({ sink: sinkLabel(sink) }, sinkWords(sink));
}
