import { readFileSync } from 'node:fs';
import t from 'tap';
import { connectionFailureOf } from '../../../src/base/failures/kind.ts';
import { ANSWER_FAILURES } from '../../../src/base/failures/login-words.ts';
import { CONNECTION_FAILURES } from '../../../src/base/failures/words.ts';

const DOCS = readFileSync(new URL('../../../docs/answers.md', import.meta.url), 'utf8');
const ROWS = DOCS.slice(DOCS.indexOf('## Why it failed')).match(/^\| (?!the s).*\|$/gm) ?? [];

t.test('docs/answers.md has the table of failures, row by row', async (t) => {
  t.same(ROWS, [
    ...Object.values(CONNECTION_FAILURES).map(
      ({ what, remedy, proxyStatus }) => `| ${what} | ${remedy} | \`${proxyStatus}\` |`,
    ),
    ...Object.values(ANSWER_FAILURES).map(({ what, remedy }) => `| ${what} | ${remedy} |`),
  ]);
});

t.test('the words hold no code and no address, and each remedy is a sentence', async (t) => {
  for (const { what, remedy } of [...Object.values(CONNECTION_FAILURES), ...Object.values(ANSWER_FAILURES)]) {
    t.notMatch(what, /E[A-Z]{4,}|\d\.\d|\.$/);
    t.match(remedy, /^[A-Z].*\.$/);
  }
});

t.test(
  'an unknown code, or a thrown value that is not an error, counts as a failed connection',
  async (t) => {
    for (const thrown of [
      new Error('x'),
      Object.assign(new Error('x'), { code: 'E_NEW' }),
      'x',
      null,
      undefined,
    ]) {
      t.equal(connectionFailureOf(thrown), 'other');
    }
    t.equal(connectionFailureOf({ code: 'CERT_REVOKED' }), 'tls-certificate');
    t.equal(connectionFailureOf({ code: 'ERR_SSL_NO_PROTOCOLS_AVAILABLE' }), 'tls-protocol');
  },
);
