import { readFileSync, writeFileSync } from 'node:fs';
import type { Result } from '../rows/row.ts';
import { machine } from './machine.ts';
import { markdownTable } from './tables.ts';
import { VERDICT_HEAD, verdictLine } from './verdict.ts';

const BEGIN = '<!-- bench:begin -->';
const END = '<!-- bench:end -->';

/** Puts the results between the page's two markers. */
export function writePage(path: string, results: readonly Result[]): void {
  const page = readFileSync(path, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before === -1 || after < before)
    throw new Error(`${path} has no place for the results: ${BEGIN} … ${END}`);
  const parts = [
    machine()
      .map((line) => `- ${line}`)
      .join('\n'),
    markdownTable(VERDICT_HEAD, results.flatMap(({ verdicts }) => verdicts).map(verdictLine), [0, 4]),
    ...results.map(({ title, head, lines }) => `### ${title}\n\n${markdownTable(head, lines)}`),
  ];
  writeFileSync(path, `${page.slice(0, before)}${BEGIN}\n${parts.join('\n\n')}\n${page.slice(after)}`);
}
