/** Counts by name. */
export type Counts = Readonly<Record<string, number>>;

/** One proof: a test program, the part of its full length to run, and the counts to read from its output. */
export interface Proof {
  readonly name: string;
  /** What the proof shows, in one sentence. */
  readonly shows: string;
  /** Arguments of Node. */
  readonly args: (seed: number) => readonly string[];
  readonly env?: (seed: number) => Readonly<Record<string, string>>;
  /** The number of cases, if the program does not print it. */
  readonly plays?: Counts;
  /** @returns the counts in the output; empty if there are none */
  readonly read: (output: string) => Counts;
  /** Counts that the seed determines; those that depend on time and traffic do not repeat. */
  readonly repeats: readonly string[];
}

/** `# { total: 12, pass: 12 }`, the last line of a test file's output. */
function assertions(output: string): Counts {
  const [, total, pass] = /^# \{ total: (\d+)(?:, pass: (\d+))?.*\}$/m.exec(output) ?? [];
  return total === undefined ? {} : { assertions: Number(total), passed: Number(pass ?? 0) };
}

/** The named members of the last JSON object in the output. */
function figures(output: string, names: readonly string[]): Counts {
  const text = /(?:^|\n)(\{[\s\S]*\})\s*$/.exec(output.trimEnd())?.[1] ?? '';
  const last = text.startsWith('{\n') ? text : (text.split('\n').at(-1) ?? '');
  try {
    const flat = flatten(JSON.parse(last) as object);
    return Object.fromEntries(names.flatMap((name) => (name in flat ? [[name, flat[name]!]] : [])));
  } catch {
    return {};
  }
}

/** `{ a: { b: 1 } }` as `{ 'a.b': 1 }`; only numbers. */
function flatten(value: object, before = ''): Record<string, number> {
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, inner]) => {
      if (typeof inner === 'number') return { [`${before}${name}`]: inner };
      return typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? flatten(inner as object, `${before}${name}.`)
        : {};
    }),
  ) as Record<string, number>;
}

/** The counts in a fuzzer's comments: `# requests: … gave {…}`. */
function fuzzed(output: string): Counts {
  const counts: Record<string, number> = { ...assertions(output) };
  for (const [, name, json] of output.matchAll(/^ *# (\w+): FUZZ_SEED=.* gave (\{.*\})$/gm)) {
    const { cases } = JSON.parse(json!) as { cases?: number };
    if (cases !== undefined) counts[name!] = cases;
  }
  return counts;
}

const FUZZ = {
  FUZZ_REQUESTS: '20000',
  FUZZ_ANSWERS: '6000',
  FUZZ_READER: '60000',
  FUZZ_ECHOES: '15000',
  FUZZ_LOGINS: '2000',
  FUZZ_CONFIGS: '5000',
  FUZZ_SECRETS: '150',
};

/** In the order of a run; all take about ten minutes on two cores. */
export const PROOFS: readonly Proof[] = [
  {
    name: 'spellings of paths',
    shows:
      'however a path is spelt, no modelled upstream reads it as another route than the one whose credential it got',
    args: () => ['test/routes/misreadings.test.ts'],
    env: (seed) => ({
      BEARERD_TEST_SPELLINGS: '200000',
      BEARERD_TEST_SEED: String(seed),
      TAP_TIMEOUT: '600',
    }),
    plays: { spellings: 200_000 },
    read: assertions,
    repeats: ['assertions', 'passed'],
  },
  {
    name: 'splits of answers',
    shows: 'an answer is read the same way, whatever pieces it arrives in',
    args: () => ['test/upstream/response-properties.test.ts'],
    env: () => ({ FUZZ_READER: '20000', TAP_TIMEOUT: '600' }),
    plays: { answers: 30_000 },
    read: assertions,
    repeats: ['assertions', 'passed'],
  },
  {
    name: 'echoes',
    shows:
      'a credential that an upstream sends back in any encoding, cut anywhere, is removed, and all else passes',
    args: () => ['test/forward/scrub/echoes.test.ts'],
    plays: { texts: 150_000 },
    env: (seed) => ({ ECHOES: '150000', FUZZ_SEED: String(seed), TAP_TIMEOUT: '900' }),
    read: assertions,
    repeats: ['assertions', 'passed'],
  },
  {
    name: 'hostile input',
    shows:
      'hostile requests, answers, logins, configurations and secret files end no process and reveal no secret',
    args: () => ['test/fuzz/fuzz.test.ts'],
    env: (seed) => ({ ...FUZZ, FUZZ_SEED: String(seed), FUZZ_LIMIT_S: '60', TAP_TIMEOUT: '900' }),
    read: fuzzed,
    repeats: ['assertions', 'passed'],
  },
  {
    name: 'years of tokens',
    shows:
      'through outages, refusals, rotations and jumps of the clock no expired token is sent and no request is refused without need',
    args: (seed) => ['test/tokens/years.ts', '150', String(seed)],
    read: (output) => figures(output, ['years', 'requests', 'logins', 'faults']),
    repeats: ['years', 'requests', 'logins', 'faults'],
  },
  {
    name: 'faults',
    shows:
      'after each fault the client has one outcome, no POST was acted on twice, and nothing is left behind',
    args: () => ['test/faults/faults.test.ts'],
    env: (seed) => ({ FAULTS_SEED: String(seed), FAULTS_LIMIT_S: '180', TAP_TIMEOUT: '600' }),
    read: assertions,
    repeats: [],
  },
  {
    name: 'rotation',
    shows: 'while a token is renewed again and again no request fails and none carries an expired token',
    args: () => ['test/load/rotation.ts', '60000', '20'],
    read: (output) =>
      figures(output, [
        'rotation.requests',
        'rotation.failed',
        'rotation.logins',
        'rotation.credentials.expired',
      ]),
    repeats: [],
  },
  {
    name: 'fleet',
    shows: 'two hundred instances share one login, through faults of the engine and of the session endpoint',
    args: () => ['test/fleet/main.ts', '0.25', '20', '200'],
    read: (output) => figures(output, ['instances', 'requests', 'failed', 'logins', 'mostInASecond']),
    repeats: [],
  },
  {
    name: 'soak',
    shows: 'under load, with a fault every ten seconds, each request ends as it should and nothing grows',
    args: (seed) => ['test/soak/main.ts', '3', String(seed)],
    env: () => ({ TESTED_PROGRAM: 'dist/main.js' }),
    read: (output) => figures(output, ['sent', 'served', 'faults', 'logins']),
    repeats: [],
  },
];
