import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { proof } from '../support/proof.ts';
import { HELD_FAULTS } from './held-faults.ts';
import { played } from './table.ts';

const FAULTS = 44;

t.test('each fault of the matrix is made here, or by a test that there is', async (t) => {
  const numbers = new Set([...played, ...HELD_FAULTS].map(({ number }) => number));
  for (let number = 1; number <= FAULTS; number++) t.ok(numbers.has(number), `fault ${number}`);
  t.equal(numbers.size, FAULTS, 'and no other');
});

t.test('a test that is said to make a fault is there, and is not skipped', async (t) => {
  for (const { number, file, test } of HELD_FAULTS) {
    const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
    const found = existsSync(path) ? proof(test, readFileSync(path, 'utf8')) : 'never';
    t.not(found, 'never', `${number}: ${file} ${test}`);
  }
});
