import type { Counts, Proof } from './proofs.ts';

/** The result of one proof. */
export interface Result {
  readonly name: string;
  readonly shows: string;
  /** The command line, with its variables. */
  readonly command: string;
  readonly holds: boolean;
  readonly counts: Counts;
  readonly seconds: number;
}

/** The results of one run, as in `evidence.json`. */
export interface Evidence {
  readonly commit: string;
  /** The working tree has changes. */
  readonly changed: boolean;
  readonly seed: number;
  readonly at: string;
  readonly machine: {
    readonly node: string;
    readonly system: string;
    readonly processor: string;
    readonly cores: number;
    readonly memoryGib: number;
  };
  readonly results: readonly Result[];
}

/** Pure. @param exitCode null where a signal ended it */
export function resultOf(
  proof: Proof,
  seed: number,
  { output, exitCode, seconds }: { output: string; exitCode: number | null; seconds: number },
): Result {
  const counts = proof.read(output);
  const variables = Object.entries(proof.env?.(seed) ?? {}).map(([name, value]) => `${name}=${value} `);
  return {
    name: proof.name,
    shows: proof.shows,
    command: `${variables.join('')}node ${proof.args(seed).join(' ')}`,
    // A program that succeeds and counts nothing proves nothing.
    holds: exitCode === 0 && Object.keys(counts).length > 0,
    counts: { ...proof.plays, ...counts },
    seconds,
  };
}

/** The differences between two runs of one seed, in words. Pure. */
export function differences(before: Evidence, now: Evidence, proofs: readonly Proof[]): string[] {
  return before.results.flatMap((old) => {
    const repeated = now.results.find(({ name }) => name === old.name);
    const proof = proofs.find(({ name }) => name === old.name);
    if (repeated === undefined || proof === undefined) return [`${old.name}: is not played any more`];
    const verdict =
      old.holds === repeated.holds
        ? []
        : [`${old.name}: ${verdictOf(old)} before, ${verdictOf(repeated)} now`];
    const counted = proof.repeats.filter((count) => old.counts[count] !== repeated.counts[count]);
    return [
      ...verdict,
      ...counted.map(
        (count) => `${old.name}: ${old.counts[count]} ${count} before, ${repeated.counts[count]} now`,
      ),
    ];
  });
}

export function verdictOf({ holds }: Pick<Result, 'holds'>): string {
  return holds ? 'holds' : 'FAILS';
}

/** The results as a Markdown page. Pure. */
export function pageOf({ commit, changed, seed, at, machine, results }: Evidence): string {
  const minutes = Math.round(results.reduce((sum, { seconds }) => sum + seconds, 0) / 60);
  const rows = results.map(
    (result) => `| ${result.name} | ${result.shows} | ${countsOf(result.counts)} | ${verdictOf(result)} |`,
  );
  return `Commit \`${commit.slice(0, 12)}\`${changed ? ' with changes' : ''}, seed ${seed}, ${at.slice(0, 10)}, ${minutes} minutes on ${machine.cores} cores
(${machine.processor}, ${machine.memoryGib} GiB, ${machine.system}, Node ${machine.node}).

| proof | shows that | counted | |
|---|---|---|---|
${rows.join('\n')}
`;
}

function countsOf(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count.toLocaleString('en')} ${name.replace(/.*\./, '')}`)
    .join(', ');
}
