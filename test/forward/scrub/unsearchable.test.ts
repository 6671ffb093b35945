import t from 'tap';
import { fieldOf } from '../../../src/base/fields.ts';
import { whyUnsearchable } from '../../../src/forward/scrub/unsearchable.ts';

const why = (...pairs: string[]) =>
  whyUnsearchable({ pairs, fields: pairs.filter((_, i) => i % 2 === 0).map(fieldOf) });

t.test('a body with a content coding or an instance manipulation can not be searched', async (t) => {
  for (const value of ['gzip', 'identity, br', 'GZIP', 'x, identity']) {
    t.equal(why('X', '1', 'Content-Encoding', value), 'a content coding', value);
    t.equal(why('im', value), 'an instance manipulation', value);
  }
  for (const value of ['', 'identity', 'Identity, identity'])
    t.equal(why('Content-Encoding', value, 'IM', value), undefined, value);
});

t.test('a body in a character set that does not write ASCII as it is can not be searched', async (t) => {
  for (const charset of [
    'utf-16',
    'UTF-16LE',
    '"utf-16be"',
    'utf16',
    'utf_32',
    "'utf-32'",
    'utf-7',
    'ISO-10646-UCS-2',
    'ucs-4',
    'csUnicode',
    'x-utf-16le-bom',
    'IBM037',
    'cp500',
    'ibm-1047',
    'ebcdic-cp-us',
  ]) {
    t.equal(why('Content-Type', `text/plain;charset=${charset}`), 'a character set', charset);
    const second = `text/plain; x=1; charset=utf-8; CHARSET = ${charset} ; y=2`;
    t.equal(why('content-type', 'text/html', 'Content-Type', second), 'a character set', second);
  }
});

t.test('a body in any other character set, or without one, is searched', async (t) => {
  for (const type of [
    'text/html',
    'text/utf-16',
    'application/json; charset=utf-8',
    'application/json;charset="UTF8"',
    'text/plain; charset=utf_8',
    'text/plain; charset=iso-8859-1',
    'text/plain; charset=windows-1252',
    'text/plain; charset=cp1252',
    'text/plain; charset=ibm866',
    'text/plain; charset=us-ascii',
    'text/plain; charset=shift_jis',
    'application/octet-stream; charset=binary',
    'text/plain; charset=',
  ])
    t.equal(why('Content-Type', type), undefined, type);
});
