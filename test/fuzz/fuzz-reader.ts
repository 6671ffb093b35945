import { setImmediate as turn } from 'node:timers/promises';
import { type Asked, outcome } from '../upstream/read-outcome.ts';
import { asRefused, referenceOutcome } from '../upstream/reference-reader.ts';
import { TABLE } from '../upstream/response-table.ts';
import { answerOf } from './answer-grammar.ts';
import { Chance, mutate, split } from './chance.ts';
import { Run } from './harness.ts';

// Raw answers on the response reader alone: whatever they are and however they are cut, it makes of them what the
// grammar says, or refuses them. The count is that of answers.

const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST'];
const LIMITS = [32 * 1024, 32 * 1024, 13_000, 200, 60];
const ROWS = TABLE.flatMap(({ rows }) => rows);
/** Byte by byte is slow, and long answers show nothing new so. */
const MOST_BYTE_BY_BYTE = 2_000;
const TURN_EVERY = 100;

const run = new Run();

/** An answer as upstreams write them, or one of the table; both mostly with something wrong in them. */
function caseOf(chance: Chance): { bytes: Buffer; asked: Asked } {
  if (chance.odds(0.5)) {
    const [raw, , asked = {}] = chance.pick(ROWS);
    return { bytes: mutate(Buffer.from(raw, 'latin1'), chance, 3), asked };
  }
  const method = chance.pick(METHODS);
  const bytes = Buffer.concat(answerOf(chance, method).pieces);
  const asked = {
    method,
    ...(chance.odds(0.2) && { upgrade: 'websocket' }),
    limitBytes: chance.pick(LIMITS),
  };
  return { bytes: chance.odds(0.3) ? mutate(bytes, chance, 2) : bytes, asked };
}

function outcomes(bytes: Buffer, asked: Asked, chance: Chance): string[] {
  const pieces = split(bytes, chance, 8).filter(({ length }) => length > 0);
  const ways = [[bytes], pieces];
  if (bytes.length <= MOST_BYTE_BY_BYTE) ways.push(Array.from(bytes, (byte) => Buffer.from([byte])));
  return ways.map((way) => outcome(way, asked));
}

await run.all(1, async (seed) => {
  const chance = new Chance(seed);
  const { bytes, asked } = caseOf(chance);
  const raw = bytes.toString('latin1');
  run.sent++;
  const expected = referenceOutcome(raw, asked);
  const seen = outcomes(bytes, asked, chance);
  run.answered++;
  for (const one of seen) {
    run.note(one.slice(one.lastIndexOf('| ') + 2));
    if (one === seen[0] && asRefused(one) === expected) continue;
    run.fault(JSON.stringify({ asked, raw: raw.slice(0, 2_000), expected, seen }), seed);
    break;
  }
  if (run.cases % TURN_EVERY === 0) await turn();
});
run.report();
