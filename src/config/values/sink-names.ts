import type { SinkConfig } from '../config.ts';

/** How a sink is called in the log and the metrics. */
export function sinkLabel({ kind, path }: SinkConfig): string {
  return `${kind}:${path}`;
}

/** Our socket, beside HAProxy's own, to which HAProxy sends again what failed on its fast lane. */
export function retriesPath({ path }: Pick<SinkConfig, 'path'>): string {
  return `${path}.retries`;
}

/** Without the URL of the engine, which is a secret itself. */
export const ENGINE_WORDS = 'the engine that share.url names holds access tokens, sealed';

/** Which credentials a sink holds, and where: for a person who has to know where secrets are. */
export function sinkWords(sink: SinkConfig): string {
  const what = sink.kind === 'haproxy' ? sink.credentials.join(', ') : sink.credential;
  const place = { haproxy: 'the HAProxy at', envoySds: 'the file for Envoy', file: 'the file' }[sink.kind];
  return `${place} ${sink.path} holds ${what || 'nothing: no route uses a credential that it could send'}`;
}
