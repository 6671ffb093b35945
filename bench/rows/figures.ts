export function ratio(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a / b;
}

export function times(figure: number | undefined): string {
  return figure === undefined ? '' : `${figure.toFixed(2)} ×`;
}

export function fixed(figure: number | undefined, digits: number): string {
  return figure === undefined ? '' : figure.toFixed(digits);
}

export function byName<T>(figures: ReadonlyMap<{ readonly name: string }, T>, name: string): T | undefined {
  for (const [subject, figure] of figures) if (subject.name === name) return figure;
  return undefined;
}
