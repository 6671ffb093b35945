/** As lists, logs and reports show milliseconds. */
export function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
