import t from 'tap';
import { checked, read } from './read.ts';

// The credential that a token request gives, without a disk or a network.

const TOKEN = 'curl https://h/token -u i:s -d grant_type=client_credentials';

t.test('a form field that may be a secret has a file of its own', async (t) => {
  const line = `${TOKEN} -d resource=r-1 -d api_key=k-1 -d passcode=k-2 -d more=eyJk-3 -d security_token=$TOKEN`;
  const { yaml, secrets } = read(line);
  t.match(yaml, '\n    clientSecret: { file: bearerd-secret-clientSecret }\n');
  t.match(
    yaml,
    `
    parameters:
      resource: r-1
      api_key: { file: bearerd-secret-api_key }
      passcode: { file: bearerd-secret-passcode }
      more: { file: bearerd-secret-more }
      security_token: { env: TOKEN }
`,
  );
  t.notMatch(yaml, /k-\d/);
  t.same(secrets, [
    { path: 'bearerd-secret-clientSecret', text: 's' },
    { path: 'bearerd-secret-api_key', text: 'k-1' },
    { path: 'bearerd-secret-passcode', text: 'k-2' },
    { path: 'bearerd-secret-more', text: 'eyJk-3' },
  ]);
  await t.resolves(checked(line));
  await t.resolves(checked(`${TOKEN} -d secret=k-1 -d __proto__=x`));
});

const REFUSED: readonly (readonly [line: string, says: RegExp])[] = [
  [
    `${TOKEN} -d client_assertion=k-1`,
    /with client_assertion is not carried over: it comes from assertion or/,
  ],
  [`${TOKEN} -d client_assertion_type=k-1`, /with client_assertion_type is not/],
  [`${TOKEN} -d assertion=k-1`, /with assertion is not/],
  [`${TOKEN} -d subject_token=k-1`, /with subject_token is not/],
  [`${TOKEN} -d subject_token_type=k-1`, /with subject_token_type is not/],
  [`${TOKEN} -d ..%2Fpass=k-1`, /a name that no file can have/],
  [TOKEN.replace('token', 'token?key=k-1'), /has key in the URL/],
  [TOKEN.replace('token', 'token?client%5Fsecret=k-1'), /has client%5Fsecret in the URL/],
  [`${TOKEN} --url-query client_secret=k-1`, /has client_secret in the URL/],
  [TOKEN.replace('token', 'token?assertion=eyJk-1'), /has assertion in the URL/],
  [`${TOKEN} -d client_secret=`, /client_secret is empty/],
];

t.test(
  'a token request that would put a secret into the file, or that check refuses, is refused',
  async (t) => {
    for (const [line, says] of REFUSED) {
      const refused = t.throws(() => read(line), { code: 'usage', message: says }, line);
      t.notMatch((refused as Error).message, /k-1/, line);
    }
  },
);

t.test('an empty field of the form is left out', async (t) => {
  const line = `${TOKEN} -d scope= -d audience= -d resource= -d client_assertion=`;
  t.notMatch(read(line).yaml, /scope|audience|resource|parameters|assertion/);
  await t.resolves(checked(line));
});

const GRANT = 'curl https://h/token -d grant_type=client_credentials';
const ENCODED = /form-encoded .* written decoded/;
const AS_IS = /bearerd form-encodes them .* try clientAuthentication: body/;
const BASIC: readonly (readonly [pair: string, id: string, secret: string, note?: RegExp])[] = [
  ['id-1:s_2.3*', 'id-1', 's_2.3*'],
  ['id:s%2Bt', 'id', 's+t', ENCODED],
  ['a%3ab:s%2f', 'a:b', 's/', ENCODED],
  ['id:a+b', 'id', 'a b', ENCODED],
  ['id:s+c/==', 'id', 's+c/==', AS_IS],
  ['id:s%2Bt/', 'id', 's%2Bt/', AS_IS],
  ['a%2Bb:%', 'a%2Bb', '%', AS_IS],
  ['i\u00e9:s', 'i\u00e9', 's', AS_IS],
];

t.test(
  'a client of Basic is written so that bearerd sends what the line sends, or a note says what differs',
  async (t) => {
    for (const [pair, id, secret, note] of BASIC)
      for (const given of [
        `-u '${pair}'`,
        `-H 'Authorization: Basic ${Buffer.from(pair).toString('base64')}'`,
      ]) {
        const { found, secrets } = read(`${GRANT} ${given}`);
        t.equal(found.fields.clientId, id, given);
        t.same(secrets, [{ path: 'bearerd-secret', text: secret }], given);
        t.equal(found.notes.length, note === undefined ? 1 : 2, given);
        if (note !== undefined) t.match(found.notes[0], note, given);
      }
    const { found, yaml } = read(`${GRANT} -u "a%2Bb:$SECRET"`);
    t.match(yaml, 'clientId: a+b\n    clientSecret: { env: SECRET }');
    t.match(found.notes, [ENCODED]);
    t.match(read(`${GRANT} -d client_id=a -d client_secret=s%2Ft`).found.notes, [/^The API is taken/]);
  },
);

const BESIDES: readonly (readonly [line: string, others: readonly string[]])[] = [
  [`${TOKEN} -H 'Accept: */*' -H 'Content-Type: application/x-www-form-urlencoded' -H 'Host: h'`, []],
  [`${TOKEN} -H 'X-Tenant: t' -A me -b a=b -e r`, ['header X-Tenant', 'cookie a', '-A', '-e']],
  [`${TOKEN} -d client_id=i`, []],
  [`${TOKEN} -d client_id=j -d username=u`, ['username of the body', 'client_id of the body']],
  [`${TOKEN} -d resource=a -d resource=b`, ['another resource of the body']],
  [`${TOKEN} -d client_id=j -d client_secret=t --oauth2-bearer b`, ['-u', '--oauth2-bearer']],
  [`curl https://h/token -d grant_type=client_credentials -H 'Authorization: Basic aTpz'`, []],
  [
    `curl https://h/token -d grant_type=client_credentials -d client_id=i -H 'Authorization: Bearer b'`,
    ['header Authorization'],
  ],
  [
    `curl https://h/token --json '{"grant_type":"client_credentials","client_id":"i","client_secret":"s","life":1}'`,
    ['life of the body'],
  ],
  [
    `curl 'https://h/login?tenant=t&x' --json '{"grantType":"clientCredentials","clientId":"i","clientSecret":"s","tenant":"t","deep":{}}' -H 'X-Tenant: t' -u a:b`,
    [
      'query parameter tenant',
      'query parameter without a value',
      'tenant of the body',
      'deep of the body',
      'header X-Tenant',
      '-u',
    ],
  ],
  [`curl https://h/login -d username=a -d password=b -H 'X-Tenant: t'`, ['header X-Tenant']],
];

t.test('what a login of bearerd does not send is named', async (t) => {
  for (const [line, others] of BESIDES) {
    t.same(read(line).found.others, others, line);
    await t.resolves(checked(line), line);
  }
});
