const TURNS = 4;

/**
 * Does something after a while, when this process has read what was sent to it before. A timer alone may fire first
 * where the machine was busy, and then a reset takes with it what has not been read.
 */
export function later(ms: number, action: () => unknown): void {
  const turn = (left: number): void => {
    if (left === 0) action();
    else setImmediate(turn, left - 1);
  };
  setTimeout(turn, ms, TURNS);
}

/** After a while, when this process has read what was sent to it before. */
export function whenRead(ms: number): Promise<void> {
  return new Promise((resolve) => later(ms, resolve));
}
