/** A map in the memory of a HAProxy, by its Runtime API. */
export interface HaproxySinkConfig {
  readonly kind: 'haproxy';
  /** The unix socket of the Runtime API. */
  readonly path: string;
  readonly map: string;
  /** The credentials that HAProxy may send: those of the routes that are sent in a header. */
  readonly credentials: readonly string[];
}

/** A file that Envoy reads as a secret. */
export interface EnvoySdsSinkConfig {
  readonly kind: 'envoySds';
  readonly path: string;
  /** Name of the secret. */
  readonly name: string;
  readonly credential: string;
}

/** A file with nothing in it but the token. */
export interface FileSinkConfig {
  readonly kind: 'file';
  readonly path: string;
  readonly credential: string;
}

/** A place outside of this process that holds credentials. */
export type SinkConfig = HaproxySinkConfig | EnvoySdsSinkConfig | FileSinkConfig;

/** How a sink is called in the log and the metrics. */
export function sinkLabel({ kind, path }: SinkConfig): string {
  return `${kind}:${path}`;
}

/** Our socket beside HAProxy's: HAProxy repeats there what failed on its fast lane. */
export function retriesPath({ path }: Pick<SinkConfig, 'path'>): string {
  return `${path}.retries`;
}

/** Which credentials a sink holds, and where. */
export function sinkWords(sink: SinkConfig): string {
  const what = sink.kind === 'haproxy' ? sink.credentials.join(', ') : sink.credential;
  const place = { haproxy: 'the HAProxy at', envoySds: 'the file for Envoy', file: 'the file' }[sink.kind];
  return `${place} ${sink.path} holds ${what || 'nothing: no route uses a credential that it could send'}`;
}
