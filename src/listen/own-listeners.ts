import type { Problem } from '../base/problem.ts';
import { Departures } from '../forward/client/departures.ts';
import { HttpListeners, type ListenerOptions } from './http-listeners.ts';

const CONNECTION_LIMIT = 1_000;

/** Listeners for bearerd's own endpoints: without upgrades, and without a log line for refused connections. */
export function ownListeners(
  handler: ListenerOptions['handler'],
  headerSizeBytes: number,
  methodRefused: Problem,
): HttpListeners {
  return new HttpListeners({
    handler,
    headerSizeBytes,
    methodRefused,
    maxConnections: () => CONNECTION_LIMIT,
    shouldUpgrade: () => false,
    onUpgrade: (_request, socket) => socket.destroy(),
    departures: new Departures(),
    onRefused: () => undefined,
  });
}
