import type { SinkConfig } from '../config.ts';

/** How a sink is called in the log and the metrics. */
export function sinkLabel({ kind, path }: SinkConfig): string {
  return `${kind}:${path}`;
}

/** Where a HAProxy sends anew what failed on its fast lane: a socket of ours beside its own. */
export function retriesPath({ path }: Pick<SinkConfig, 'path'>): string {
  return `${path}.retries`;
}

/** Its URL is a secret itself. */
export const ENGINE_WORDS = 'the engine that share.url names holds access tokens, sealed';

export function sinkWords(sink: SinkConfig): string {
  const what = sink.kind === 'haproxy' ? sink.credentials.join(', ') : sink.credential;
  const place = { haproxy: 'the HAProxy at', envoySds: 'the file for Envoy', file: 'the file' }[sink.kind];
  return `${place} ${sink.path} holds ${what || 'nothing: no route uses a credential that it could send'}`;
}
