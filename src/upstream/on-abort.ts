/** Calls once the signal has aborted, at once where it has already. */
export function onAbort(signal: AbortSignal, stop: (reason: unknown) => void): void {
  if (signal.aborted) stop(signal.reason);
  else signal.addEventListener('abort', () => stop(signal.reason), { once: true });
}
