import type { SinkConfig } from '../config.ts';

// Where credentials are besides this process's memory, for a person who has to know where secrets are.

/** Its URL is a secret itself. */
export const ENGINE_WORDS = 'the engine that share.url names holds access tokens, sealed';

export function sinkWords(sink: SinkConfig): string {
  const what = sink.kind === 'haproxy' ? sink.credentials.join(', ') : sink.credential;
  const place = { haproxy: 'the HAProxy at', envoySds: 'the file for Envoy', file: 'the file' }[sink.kind];
  return `${place} ${sink.path} holds ${what || 'nothing: no route uses a credential that it could send'}`;
}
