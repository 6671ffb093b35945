/** Prints the figures and the missed aims. The exit code is 1 if there are any. */
export function report(figures: object, aims: Readonly<Record<string, boolean>>): void {
  const missed = Object.keys(aims).filter((aim) => !aims[aim]);
  process.stdout.write(`${JSON.stringify({ ...figures, missed }, null, 2)}\n`);
  if (missed.length > 0) process.exitCode = 1;
}
