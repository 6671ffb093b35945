import t from 'tap';
import { responseLines } from '../../src/upstream/h2-fields.ts';

t.test(
  'of a value over HTTP/2 only blanks and tabs around it are no part, and every byte else passes',
  async (t) => {
    for (const [given, left] of [
      ['caf\xc3\xa0', 'caf\xc3\xa0'],
      ['\xa0a b\xa0', '\xa0a b\xa0'],
      ['\xc2\x85\x85', '\xc2\x85\x85'],
      [' \t a\t b \t', 'a\t b'],
      [' \xa0\t', '\xa0'],
      ['\t \t', ''],
      ['', ''],
    ] as const)
      t.same(responseLines([':status', '200', 'x-any', given], 100)?.pairs, ['x-any', left]);
  },
);

t.test(
  'the header lines of a response over HTTP/2 are counted without the blanks around their values',
  async (t) => {
    const lines = ['x-any', ' 12345 '];
    t.same(responseLines(lines, 14)?.pairs, ['x-any', '12345']);
    t.equal(responseLines(lines, 13), undefined);
  },
);
