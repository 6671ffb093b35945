type Line = readonly string[];

/** For a terminal: the first column to the left, figures to the right. */
export function textTable(head: Line, lines: readonly Line[], left: readonly number[] = [0]): string {
  const all = [head, ...lines];
  const widths = head.map((_, n) => Math.max(...all.map((line) => line[n]!.length)));
  const row = (line: Line) =>
    line
      .map((cell, n) => (left.includes(n) ? cell.padEnd(widths[n]!) : cell.padStart(widths[n]!)))
      .join('   ');
  return all.map((line) => `  ${row(line)}`.trimEnd()).join('\n');
}

export function markdownTable(head: Line, lines: readonly Line[], left: readonly number[] = [0]): string {
  const row = (line: Line) => `| ${line.join(' | ')} |`;
  return [row(head), row(head.map((_, n) => (left.includes(n) ? '---' : '---:'))), ...lines.map(row)].join(
    '\n',
  );
}
