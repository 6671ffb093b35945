/** Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours each cost one. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const cell = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i += 1) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j += 1) {
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      rows[i]?.push(
        Math.min(
          cell(i - 1, j) + 1,
          cell(i, j - 1) + 1,
          cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
          swapped ? cell(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return cell(a.length, b.length);
}

/** `token_wait`, `token-wait` and `tokenwait` all mean `tokenWait`. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

/** The distance of two names; a beginning or a part (`timeout`) is farther than a typing error. */
function distance(typed: string, candidate: string): number {
  const [a, b] = [plain(typed), plain(candidate)];
  const edits = editDistance(a, b);
  if (edits <= Math.max(1, Math.floor(Math.max(a.length, b.length) * 0.4))) return edits;
  const [short = '', long = ''] = a.length < b.length ? [a, b] : [b, a];
  const isPart = short.length >= 2 && (long.startsWith(short) || (short.length >= 4 && long.includes(short)));
  return isPart ? 100 + edits : Number.POSITIVE_INFINITY;
}

/** The candidate that was most likely meant; undefined if none is near. The first of equally near ones. */
export function nearest(typed: string, candidates: readonly string[]): string | undefined {
  // A file may hold keys of any length; no real one is this long.
  if (typed.length > 100) return undefined;
  let best: { name: string; distance: number } | undefined;
  for (const name of candidates) {
    const apart = distance(typed, name);
    if (Number.isFinite(apart) && (best === undefined || apart < best.distance))
      best = { name, distance: apart };
  }
  return best?.name;
}

/** `; did you mean X?`, or nothing. */
export function didYouMean(suggestion: string | undefined): string {
  return suggestion === undefined ? '' : `; did you mean ${suggestion}?`;
}

/** `(there are A, B); did you mean B?`, for a name that is none of them. */
export function insteadOf(name: string, names: readonly string[]): string {
  const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
  return `(${known})${didYouMean(nearest(name, names))}`;
}

/** What `didYouMean` has put into a text. */
export function meantIn(text: string): string | undefined {
  return /; did you mean (\S+)\?/.exec(text)?.[1];
}
