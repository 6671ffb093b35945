import t from 'tap';
import { shareFailure } from '../../../src/base/failures/share-words.ts';

const CODES = [
  'ECONNREFUSED',
  'ENOENT',
  'EACCES',
  'ETIMEDOUT',
  'ECONNRESET',
  'ENOTFOUND',
  'CLUSTER',
  'SENTINEL',
  'READONLY',
  'WRONGPASS',
  'NOAUTH',
  'NOPERM',
  'OOM',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR',
];

t.test(
  'for each reason why tokens are not shared, there are words that follow the address, and a remedy',
  async (t) => {
    for (const code of CODES)
      for (const tls of [false, true]) {
        const { what, remedy } = shareFailure(code, tls);
        t.match(what, /^[a-z].*[^.]$/, code);
        t.match(remedy, /^[A-Z].*\.$/, code);
      }
  },
);

t.test('if the failure may come from the wrong scheme for the port, the remedy says so', async (t) => {
  t.match(shareFailure('ETIMEDOUT', true).remedy, /write redis:\/\//);
  t.notMatch(shareFailure('ETIMEDOUT', false).remedy, /redis:\/\//);
  t.match(shareFailure('ECONNRESET', false).remedy, /write rediss:\/\//);
  t.match(shareFailure('ERR_SSL_WRONG_VERSION_NUMBER', true).remedy, /Write redis:\/\//);
});

t.test('an unknown code is named', async (t) => {
  t.equal(shareFailure('LOADING', false).what, 'answers LOADING');
});
