import { Departures } from '../forward/client/departures.ts';
import { HttpListeners, type ListenerOptions } from './http-listeners.ts';

const CONNECTION_LIMIT = 1_000;

/** Listeners for bearerd's own endpoints: without upgrades, and without a log line for refused connections. */
export function ownListeners(handler: ListenerOptions['handler'], headerSizeBytes: number): HttpListeners {
  return new HttpListeners({
    handler,
    headerSizeBytes,
    maxConnections: () => CONNECTION_LIMIT,
    shouldUpgrade: () => false,
    onUpgrade: (_request, socket) => socket.destroy(),
    departures: new Departures(),
    onRefused: () => undefined,
  });
}
