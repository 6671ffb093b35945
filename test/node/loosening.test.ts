import tls from 'node:tls';
import t from 'tap';
import { looseningOptions, strictCiphers } from '../../src/node/loosening.ts';

const { DEFAULT_CIPHERS } = tls;
const { NODE_OPTIONS } = process.env;
t.afterEach(() => {
  tls.DEFAULT_CIPHERS = DEFAULT_CIPHERS;
  if (NODE_OPTIONS === undefined) delete process.env.NODE_OPTIONS;
  else process.env.NODE_OPTIONS = NODE_OPTIONS;
});

t.test("Node's own list of ciphers is used unchanged, and so is a stricter one", async (t) => {
  for (const list of [
    DEFAULT_CIPHERS,
    'TLS_AES_256_GCM_SHA384',
    'HIGH:!aNULL:!eNULL:!MD5:!3DES',
    'ECDHE+AESGCM:-RC4',
    'DEFAULT:@SECLEVEL=3',
  ]) {
    tls.DEFAULT_CIPHERS = list;
    t.equal(strictCiphers(), undefined, list);
  }
});

t.test('a list that allows a broken cipher or a short key is replaced', async (t) => {
  for (const list of [
    'ALL',
    'ALL:!aNULL',
    'HIGH:eNULL',
    'NULL-SHA256',
    'RC4-SHA:HIGH',
    'DES-CBC3-SHA',
    'ADH-AES128-SHA',
    'DEFAULT@SECLEVEL=0',
    'DEFAULT:@SECLEVEL=1',
    'DEFAULT, LOW',
  ]) {
    tls.DEFAULT_CIPHERS = list;
    t.equal(strictCiphers(), DEFAULT_CIPHERS, list);
    t.same(looseningOptions(), ['--tls-cipher-list'], list);
  }
});

t.test('every spelling of a loosening option is found in NODE_OPTIONS, and no other option', async (t) => {
  for (const [options, found] of [
    ['--insecure-http-parser', ['--insecure-http-parser']],
    ['--max-old-space-size=64 --insecure_http_parser', ['--insecure-http-parser']],
    ['"--tls-min-v1.0"', ['--tls-min-v1.0']],
    ['--tls-min-v1.1 --insecure-http-parser', ['--tls-min-v1.1', '--insecure-http-parser']],
    ['--tls-min-v1.2 --tls-max-v1.2 --use-openssl-ca', []],
    ['--require=./my--insecure-http-parser', []],
  ] as const) {
    process.env.NODE_OPTIONS = options;
    t.same(looseningOptions(), found, options);
  }
});
