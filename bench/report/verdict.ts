import type { Verdict } from '../rows/row.ts';

export const VERDICT_HEAD = ['what', 'measured', 'target', 'must', ''];

export function verdictLine(verdict: Verdict): string[] {
  const { what, figure, target, must } = verdict;
  const limit = (value: number | undefined) =>
    value === undefined ? '' : `≤ ${withUnit(value, verdict.unit)}`;
  const measured = figure === undefined ? 'not measured' : withUnit(round(figure), verdict.unit);
  return [what, measured, limit(target), limit(must), judgement(verdict)];
}

function judgement({ figure, target, must }: Verdict): string {
  if (figure === undefined || target === undefined) return '';
  if (figure <= target) return 'met';
  return must !== undefined && figure <= must ? 'must met, target missed' : 'missed';
}

function round(figure: number): number {
  return Math.abs(figure) >= 10 ? Math.round(figure) : Number(figure.toFixed(2));
}

function withUnit(figure: number, unit: string): string {
  return unit === '' ? String(figure) : `${figure} ${unit}`;
}
