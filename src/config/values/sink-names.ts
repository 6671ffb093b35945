import type { SinkConfig } from '../config.ts';

/** How a sink is called in the log and the metrics. */
export function sinkLabel({ kind, path }: SinkConfig): string {
  return `${kind}:${path}`;
}

/** Where a HAProxy sends anew what failed on its fast lane: a socket of ours beside its own. */
export function retriesPath({ path }: Pick<SinkConfig, 'path'>): string {
  return `${path}.retries`;
}
