import type { Server } from 'node:http';

/** Node's name of the timer's symbol (lib/_http_server.js). */
const TIMER = 'http.server.connectionsCheckingInterval';

/**
 * Stops the timer by which a server of Node looks for clients that are slow with their head (`headersTimeout`), because
 * it would wake an idle process. Call it once the server listens.
 *
 * @returns the function that the timer would call; undefined if this Node has other internals, so that its timer goes on
 */
export function takeSlowHeadCheck(server: Server): (() => void) | undefined {
  const symbol = Object.getOwnPropertySymbols(server).find(({ description }) => description === TIMER);
  if (symbol === undefined) return undefined;
  const timer = (server as unknown as Record<symbol, { _onTimeout?: () => void } & NodeJS.Timeout>)[symbol];
  const check = timer?._onTimeout;
  if (timer === undefined || typeof check !== 'function') return undefined;
  clearInterval(timer);
  return check;
}
