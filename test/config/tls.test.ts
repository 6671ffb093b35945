import { readFileSync } from 'node:fs';
import t from 'tap';
import { validityProblem } from '../../src/config/sections/tls.ts';
import { CWD, FILE, type Files, faultsOf, LEAST, loadFrom } from './load-from.ts';

/** Made only for this test; valid for a hundred years. */
const CERT = `-----BEGIN CERTIFICATE-----
MIIBhTCCASugAwIBAgIUNJuH1yErXqEoQzsDDu5PFWUDunAwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMYmVhcmVyZC10ZXN0MCAXDTI2MTEyNzIzMDI0OVoYDzIxMjYx
MTAzMjMwMjQ5WjAXMRUwEwYDVQQDDAxiZWFyZXJkLXRlc3QwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAATkai6TTWx+6q2a9zrE9ySt2hXx0ku/vbC5vpos6PQXB+gU
AR8PJycCEaeI0oZeF9SfiM6tsBZYj1UxbUkIxniTo1MwUTAdBgNVHQ4EFgQUocgY
7LwGGHjrujOLtwT/cTEmGYAwHwYDVR0jBBgwFoAUocgY7LwGGHjrujOLtwT/cTEm
GYAwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEA0mivSfXXzVYp
jOR8hJQCMfBrmDWpR6QE+T4tk/JLcuACIHKC0cklinPNdPeoj48JTVLw/XujM5aA
TsKGzfgClq1k
-----END CERTIFICATE-----
`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOHjj0luKGrddyo6J
KmhBsspubVO+2AqnPopd8T8kqsehRANCAATkai6TTWx+6q2a9zrE9ySt2hXx0ku/
vbC5vpos6PQXB+gUAR8PJycCEaeI0oZeF9SfiM6tsBZYj1UxbUkIxniT
-----END PRIVATE KEY-----
`;
const OTHER_KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgv+lcxTtZ2hpVb4F1
ou6VgFw4ZnQf6HiCblZHGRvwJd6hRANCAARd36s1QaVPnN3hI2L/SUN9rMa8I4PP
Im85oFPpY0gNrnph4z3bauENJoiGQjZ7HYeV4ajvmbGBtjCPP4bOiDvA
-----END PRIVATE KEY-----
`;
const ENCRYPTED_KEY = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjbn/nQ1R82mQICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEFK6F8m+NSWB3y1SYpgGoUIEgZDs
bnS8V2jawDCrPVYM8bXLMGqrLmPeJhMiZYeQ0ZyAeGWAcc0sZZsJnVksRTlktQfc
7R9GvOBluaLBbtpjsH1Z94IShoJwZXW7VkpmqRvlrQxxrd5UQz0iBN8Pr5oNKV5F
enf+aFS06D5Zq/uuWEPiUbv63v20RvFO4TA7Vcblg/jUhFi8c6QmOPc1y5fkd14=
-----END ENCRYPTED PRIVATE KEY-----
`;

const FILES: Files = {
  '/tls/ca.pem': `# two of them\n${CERT}${CERT}`,
  '/tls/cert.pem': CERT,
  '/tls/key.pem': KEY,
  '/tls/other.pem': OTHER_KEY,
  '/tls/encrypted.pem': ENCRYPTED_KEY,
  '/tls/text.pem': 'no PEM at all',
  '/tls/damaged.pem': CERT.replace('MII', 'AAA'),
};
const CA = 'BEARERD_TLS_CA_FILE';
const CERT_FILE = 'BEARERD_TLS_CERT_FILE';
const KEY_FILE = 'BEARERD_TLS_KEY_FILE';

const faultsWith = (tls: Record<string, string>) => faultsOf({ env: { ...LEAST, ...tls }, files: FILES });

t.test('a private CA and a client certificate are read, and their files are watched', async (t) => {
  const { tls, watchedFiles, effective } = await loadFrom({
    env: { ...LEAST, [CA]: '/tls/ca.pem', [CERT_FILE]: '/tls/cert.pem', [KEY_FILE]: '/tls/key.pem' },
    files: FILES,
  });
  t.match(tls, {
    caFile: '/tls/ca.pem',
    ca: FILES['/tls/ca.pem'],
    certFile: '/tls/cert.pem',
    keyFile: '/tls/key.pem',
  });
  t.equal(tls.cert?.expose(), CERT);
  t.equal(tls.key?.expose(), KEY);
  t.same(watchedFiles, ['/tls/ca.pem', '/tls/cert.pem', '/tls/key.pem']);
  t.same(effective.tls, { caFile: '/tls/ca.pem', certFile: '/tls/cert.pem', keyFile: '/tls/key.pem' });
});

t.test('paths in the configuration file are relative to its folder', async (t) => {
  const files = { ...FILES, [FILE]: 'tls: { caFile: ca.pem }', [`${CWD}/ca.pem`]: CERT };
  t.equal((await loadFrom({ files })).tls.caFile, `${CWD}/ca.pem`);
});

t.test('a certificate without its key, or with another key, is a fault', async (t) => {
  t.same(await faultsWith({ [CERT_FILE]: '/tls/cert.pem' }), [
    `${KEY_FILE}: is missing; ${CERT_FILE} needs it`,
  ]);
  t.same(await faultsWith({ [KEY_FILE]: '/tls/key.pem' }), [
    `${CERT_FILE}: is missing; ${KEY_FILE} needs it`,
  ]);
  t.same(await faultsWith({ [CERT_FILE]: '/tls/cert.pem', [KEY_FILE]: '/tls/other.pem' }), [
    `${KEY_FILE}: names a key that does not belong to the certificate`,
  ]);
});

t.test('a missing or invalid TLS file is a fault', async (t) => {
  t.same(await faultsWith({ [CA]: '/tls/none.pem' }), [`${CA}: cannot read /tls/none.pem: no such file`]);
  for (const path of ['/tls/text.pem', '/tls/damaged.pem', '/tls/key.pem']) {
    t.match(
      await faultsWith({ [CA]: path }),
      [new RegExp(`^${CA}: names a file without a PEM certificate`)],
      path,
    );
    t.match(
      await faultsWith({ [CERT_FILE]: path, [KEY_FILE]: '/tls/key.pem' }),
      [new RegExp(`^${CERT_FILE}: names a file`)],
      path,
    );
  }
  for (const path of ['/tls/text.pem', '/tls/cert.pem', '/tls/encrypted.pem']) {
    t.match(
      await faultsWith({ [CERT_FILE]: '/tls/cert.pem', [KEY_FILE]: path }),
      [new RegExp(`^${KEY_FILE}: names a file without a PEM private key`)],
      path,
    );
  }
  t.match(await faultsOf({ files: { ...FILES, [FILE]: 'tls: { caFile: /tls/text.pem }' } }), [
    /^tls\.caFile: /,
  ]);
});

t.test("the listener's certificate has the same rules, with faults of its own variables", async (t) => {
  const [cert, key] = ['BEARERD_LISTEN_TLS_CERT_FILE', 'BEARERD_LISTEN_TLS_KEY_FILE'];
  const env = { ...LEAST, [cert]: '/tls/cert.pem', [key]: '/tls/key.pem' };
  const { listenTls, watchedFiles, effective, tls } = await loadFrom({ env, files: FILES });
  t.match(listenTls, { certFile: '/tls/cert.pem', keyFile: '/tls/key.pem' });
  t.equal(listenTls?.cert.expose(), CERT);
  t.equal(listenTls?.key.expose(), KEY);
  t.same([...watchedFiles], ['/tls/cert.pem', '/tls/key.pem'], 'watched');
  t.same(effective.listenTls, { certFile: '/tls/cert.pem', keyFile: '/tls/key.pem' });
  t.same(tls, {}, 'the listener certificate is not a client certificate');
  for (const [pair, fault] of [
    [{ [cert]: '/tls/cert.pem' }, `${key}: is missing; ${cert} needs it`],
    [{ [key]: '/tls/key.pem' }, `${cert}: is missing; ${key} needs it`],
    [{ [cert]: '/tls/cert.pem', [key]: '/tls/other.pem' }, `${key}: names a key that does not belong`],
    [{ [cert]: '/tls/text.pem', [key]: '/tls/key.pem' }, `${cert}: names a file without a PEM certificate`],
    [{ [cert]: '/tls/cert.pem', [key]: '/tls/gone.pem' }, `${key}: `],
  ] as const) {
    const faults = await faultsWith(pair);
    t.equal(faults.length, 1, fault);
    t.ok(faults[0]?.startsWith(fault), fault);
  }
  t.match(await faultsWith({ [cert]: '/tls/cert.pem', [key]: '/tls/gone.pem' }), [/\/tls\/gone\.pem/]);
});

t.test('a certificate that has expired, or expires within a day, gives a warning', async (t) => {
  const at = (iso: string) => new Date(iso);
  const certificate = { validFromDate: at('2026-01-01T00:00:00Z'), validToDate: at('2026-04-01T00:00:00Z') };
  const problem = (iso: string) => validityProblem(certificate, at(iso).getTime());
  t.equal(problem('2026-02-01T00:00:00Z'), undefined);
  t.equal(problem('2026-03-31T00:00:00Z'), undefined, 'more than a day is left');
  t.match(problem('2026-03-31T00:00:01Z'), /expires within a day, at 2026-04-01T00:00:00Z/);
  t.match(problem('2026-04-01T00:00:00Z'), /expired at 2026-04-01T00:00:00Z/);
  t.match(problem('2025-12-31T23:59:59Z'), /not valid before 2026-01-01T00:00:00Z/);

  const expired = (name: string) =>
    readFileSync(new URL(`../support/tls/expired.${name}`, import.meta.url), 'utf8');
  const files = { '/tls/expired.pem': expired('pem'), '/tls/expired.key': expired('key') };
  for (const name of ['BEARERD_LISTEN_TLS', 'BEARERD_TLS']) {
    const env = {
      ...LEAST,
      [`${name}_CERT_FILE`]: '/tls/expired.pem',
      [`${name}_KEY_FILE`]: '/tls/expired.key',
    };
    const { warnings } = await loadFrom({ env, files });
    t.match(warnings, [{ key: `${name}_CERT_FILE`, problem: /expired at 20\d\d-/ }]);
  }
  const env = {
    ...LEAST,
    BEARERD_LISTEN_TLS_CERT_FILE: '/tls/cert.pem',
    BEARERD_LISTEN_TLS_KEY_FILE: '/tls/key.pem',
  };
  t.same((await loadFrom({ env, files: FILES })).warnings, []);
});
