/** Calls `stop` when the signal aborts; at once if it has aborted already. */
export function onAbort(signal: AbortSignal, stop: (reason: unknown) => void): void {
  if (signal.aborted) stop(signal.reason);
  else signal.addEventListener('abort', () => stop(signal.reason), { once: true });
}
