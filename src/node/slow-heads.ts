import type { Server } from 'node:http';

/** Node's name for the timer, a symbol of its own (lib/_http_server.js). */
const TIMER = 'http.server.connectionsCheckingInterval';

/**
 * Takes from Node the timer by which a server looks for clients that are slow with their head (`headersTimeout`), and
 * gives one such look; undefined where this Node keeps it elsewhere, and goes on looking by itself. Node looks for as
 * long as a server listens, and wakes an idle process for nothing. Call it once the server listens.
 */
export function takeSlowHeadLook(server: Server): (() => void) | undefined {
  const symbol = Object.getOwnPropertySymbols(server).find(({ description }) => description === TIMER);
  if (symbol === undefined) return undefined;
  const timer = (server as unknown as Record<symbol, { _onTimeout?: () => void } & NodeJS.Timeout>)[symbol];
  const look = timer?._onTimeout;
  if (timer === undefined || typeof look !== 'function') return undefined;
  clearInterval(timer);
  return look;
}
