import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { differences, type Evidence, pageOf, resultOf } from './evidence.ts';
import { PROOFS } from './proofs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const proof = (name: string) => PROOFS.find((each) => each.name === name)!;
const ended = (output: string, exitCode: number | null = 0) => ({ output, exitCode, seconds: 1 });

t.test('each proof runs a program that exists', async (t) => {
  for (const { name, args } of PROOFS) t.ok(existsSync(join(ROOT, args(1)[0]!)), name);
});

t.test('the counts of a program are read from its output', async (t) => {
  t.same(proof('faults').read('ok 1\n# { total: 12, pass: 11, fail: 1 }\n'), { assertions: 12, passed: 11 });
  t.same(proof('years of tokens').read('{"years":50,"requests":1}\n{"years":100,"requests":2,"cpuS":9}\n'), {
    years: 100,
    requests: 2,
  });
  t.same(
    proof('rotation').read(
      '{\n  "rotation": {\n    "requests": 9,\n    "failed": 0\n  },\n  "missed": []\n}\n',
    ),
    {
      'rotation.requests': 9,
      'rotation.failed': 0,
    },
  );
});

t.test('a proof holds only if its program succeeded and counted something', async (t) => {
  const years = proof('years of tokens');
  t.ok(resultOf(years, 1, ended('{"years":1,"requests":2,"logins":3,"faults":0}')).holds);
  t.notOk(resultOf(years, 1, ended('')).holds);
  t.notOk(resultOf(years, 1, ended('{"years":1}', 1)).holds);
  t.notOk(resultOf(years, 1, ended('{"years":1}', null)).holds);
});

t.test('two runs differ in a verdict, or in a count that the seed determines', async (t) => {
  const evidence = (requests: number, exitCode = 0) =>
    ({
      results: [
        resultOf(proof('years of tokens'), 1, ended(`{"years":1,"requests":${requests}}`, exitCode)),
        resultOf(proof('rotation'), 1, ended(`{"rotation":{"requests":${requests}}}`)),
      ],
    }) as unknown as Evidence;
  t.same(differences(evidence(5), evidence(5), PROOFS), []);
  t.same(differences(evidence(5), evidence(6), PROOFS), ['years of tokens: 5 requests before, 6 now']);
  t.same(differences(evidence(5), evidence(5, 1), PROOFS), ['years of tokens: holds before, FAILS now']);
  t.same(differences(evidence(5), { results: [] } as unknown as Evidence, PROOFS).length, 2);
});

t.test('the Markdown page has a row for each proof, and says which failed', async (t) => {
  const results = [
    resultOf(proof('rotation'), 1, ended('{"rotation":{"requests":9000}}')),
    resultOf(proof('faults'), 1, ended('', 1)),
  ];
  const machine = { node: '26', system: 'Linux', processor: 'x', cores: 2, memoryGib: 8 };
  const page = pageOf({
    commit: 'a'.repeat(40),
    changed: false,
    seed: 7,
    at: '2026-11-29T12:00:00Z',
    machine,
    results,
  });
  t.match(page, /\| rotation \| .* \| 9,000 requests \| holds \|/);
  t.match(page, /\| faults \| .* \| {2}\| FAILS \|/);
});
