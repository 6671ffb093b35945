import t from 'tap';
import { PROCESS_FAULTS } from './process-faults.ts';
import { played } from './table.ts';
import { keepPage } from './why-pages.ts';

// What `bearerd why` says of faults that hit the process as a whole, while they last or right after. With
// `FAULTS_WHY=FILE` each page is added to that file, as those of faults.test.ts are.

const FAULTS = 44;
t.setTimeout(600_000); // Each has a process or two of its own.

for (const { number, title, says, page } of PROCESS_FAULTS) {
  t.test(`why tells of fault ${number}: ${title}`, async (t) => {
    t.testdir({});
    const said = await page(t);
    keepPage(`${number}: ${title}`, said);
    t.match(said, says);
  });
}

t.test('each fault of the matrix has a page of why, here or in faults.test.ts', async (t) => {
  const numbers = new Set([...played, ...PROCESS_FAULTS].map(({ number }) => number));
  t.equal(numbers.size, FAULTS);
});
