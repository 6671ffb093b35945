/** Milliseconds with two decimals, as lists, logs and reports show them. */
export function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
