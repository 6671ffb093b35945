import { networkInterfaces } from 'node:os';

/** Whether a condition of a test's `skip` holds here, by its text: the row that the test proves is skipped with it. */
const CONDITIONS: Readonly<Record<string, boolean>> = {
  "process.platform !== 'linux'": process.platform !== 'linux',
  "lan === undefined && 'no such address'": !Object.values(networkInterfaces())
    .flat()
    .some((face) => face?.family === 'IPv4' && !face.internal),
};

/** `runs` for a test that runs here; `never` where there is none, or one that is skipped for another reason. */
export function proof(title: string, text: string): 'runs' | 'skipped here' | 'never' {
  const start = text.indexOf(title);
  if (start === -1 || !/\bt\.test\(\s*['"`][^'"`\n]*$/.test(text.slice(0, start))) return 'never';
  const options = text.slice(start + title.length, text.indexOf('=>', start));
  if (!/\b(?:skip|todo)\b/.test(options)) return 'runs';
  const skipped = CONDITIONS[/\{ skip: (.+?),? \},/.exec(options.replace(/\s+/g, ' '))?.[1] ?? ''];
  if (skipped === undefined) return 'never';
  return skipped ? 'skipped here' : 'runs';
}
