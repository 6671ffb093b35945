import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import type { OAuth2CredentialConfig } from '../../src/config/sections/credentials/oauth2.ts';
import { createOAuth2Login } from '../../src/login/oauth2-endpoint.ts';
import { loadYaml } from '../config/load-from.ts';
import { loginServer } from '../support/login-server.ts';
import { outcomeOf } from '../support/outcome.ts';
import { head, ok, RawUpstream } from '../support/raw-upstream.ts';

// Token requests of the grants `jwtBearer` and `password`, in the forms that known services document.

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const TOKEN = '{"access_token":"tok-1","token_type":"Bearer","expires_in":3600}';

/** One login with an entry of a configuration file; `KEY` stands for the path of a private key. */
async function logIn(t: Test, entry: string, answer: string | Buffer = ok(TOKEN)) {
  const endpoint = await RawUpstream.startedFor(t);
  endpoint.onRequest = () => answer;
  const folder = t.testdir({ key: PEM, jwt: 'aaa.bbb.ccc\n' });
  const text = entry
    .replaceAll('KEY', `{ file: '${join(folder, 'key')}' }`)
    .replaceAll('JWT', `{ file: '${join(folder, 'jwt')}' }`);
  const config = await loadYaml(
    `baseUrl: https://api.example.com\ncredentials: { token: { type: oauth2, tokenUrl: '${endpoint.url}/token', ${text} } }\n`,
  );
  const credential = config.credentials.get('token') as OAuth2CredentialConfig;
  const login = createOAuth2Login({ at: async (at) => loginServer(at) }, credential, systemClock);
  const result = await outcomeOf(login(new AbortController().signal));
  const { body } = await endpoint.last.message;
  const form = Object.fromEntries(new URLSearchParams(body.toString('latin1')));
  return { result, form, authorization: endpoint.last.header('authorization'), effective: config.effective };
}

/** The claims and the header of an assertion, after checks. */
async function verified(assertion: string | undefined) {
  const { payload } = await jwtVerify(assertion ?? '', publicKey);
  return { ...payload, header: decodeProtectedHeader(assertion ?? '') };
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

t.test('jwtBearer for Google: the service account is iss, and scope is a claim', async (t) => {
  const { result, form, authorization } = await logIn(
    t,
    'grant: jwtBearer, privateKey: KEY, keyId: k1, assertionAudience: https://oauth2.googleapis.com/token, ' +
      'assertionLifetime: 1h, assertionClaims: { iss: robot@project.iam.example, scope: https://scopes.example/drive }',
  );
  t.match(result, { token: 'tok-1', warnings: [] });
  t.same(Object.keys(form), ['grant_type', 'assertion'], 'without clientId there is no client_id');
  t.equal(form.grant_type, JWT_BEARER);
  t.equal(authorization, undefined);
  const { iat = 0, exp, jti, header, sub, ...claims } = await verified(form.assertion);
  t.same(claims, {
    iss: 'robot@project.iam.example',
    scope: 'https://scopes.example/drive',
    aud: 'https://oauth2.googleapis.com/token',
  });
  t.equal(sub, undefined);
  t.equal(exp, iat + 3600);
  t.type(jti, 'string');
  t.same(header, { alg: 'RS256', typ: 'JWT', kid: 'k1' });
});

t.test('jwtBearer for DocuSign and Salesforce: the client is iss, and a user is sub', async (t) => {
  const docuSign = await logIn(
    t,
    "grant: jwtBearer, clientId: integration-key, privateKey: KEY, assertionAudience: account-d.docusign.com, assertionClaims: { sub: user-guid, scope: 'signature impersonation' }",
  );
  t.match(docuSign.result, { token: 'tok-1' });
  t.match(await verified(docuSign.form.assertion), {
    iss: 'integration-key',
    sub: 'user-guid',
    aud: 'account-d.docusign.com',
    scope: 'signature impersonation',
  });
  const noExpiry = ok(
    '{"access_token":"tok-2","scope":"api","instance_url":"https://x.example","token_type":"Bearer"}',
  );
  const salesforce = await logIn(
    t,
    'grant: jwtBearer, clientId: consumer-key, privateKey: KEY, assertionAudience: https://login.salesforce.com, assertionLifetime: 3m, assertionClaims: { sub: ada@example.com }',
    noExpiry,
  );
  t.match(salesforce.result, { token: 'tok-2', warnings: [/15 minutes are assumed/] });
  const { iat = 0, exp, iss, sub } = await verified(salesforce.form.assertion);
  t.same([iss, sub, exp], ['consumer-key', 'ada@example.com', iat + 180]);
});

t.test('jwtBearer for Box: the client sends its secret beside the assertion', async (t) => {
  const { result, form } = await logIn(
    t,
    "grant: jwtBearer, clientAuthentication: body, clientId: id, clientSecret: s3cret, privateKey: KEY, keyId: k2, assertionClaims: { sub: '12345', box_sub_type: enterprise }",
  );
  t.match(result, { token: 'tok-1' });
  t.match(form, { grant_type: JWT_BEARER, client_id: 'id', client_secret: 's3cret' });
  const { iat = 0, exp, aud, ...claims } = await verified(form.assertion);
  t.match(claims, { iss: 'id', sub: '12345', box_sub_type: 'enterprise', header: { kid: 'k2' } });
  t.equal(exp, iat + 60);
  t.match(aud, /^http:\/\/127\.0\.0\.1:\d+\/token$/, 'aud defaults to the token URL');
});

t.test('an assertion from a file is sent unchanged as the grant', async (t) => {
  const { form } = await logIn(t, 'grant: jwtBearer, assertion: JWT, scope: read');
  t.same(form, { grant_type: JWT_BEARER, assertion: 'aaa.bbb.ccc', scope: 'read' });
});

t.test(
  'jwtBearer with privateKeyJwt signs an assertion for the client and another one as the grant',
  async (t) => {
    const client = 'grant: jwtBearer, clientAuthentication: privateKeyJwt, clientId: robot, privateKey: KEY';
    const { result, form } = await logIn(
      t,
      `${client}, keyId: k1, assertionAudience: https://idp.example, assertionLifetime: 1h, assertionClaims: { sub: ada }`,
    );
    t.match(result, { token: 'tok-1' });
    t.match(form, { grant_type: JWT_BEARER, client_id: 'robot', client_assertion_type: /:jwt-bearer$/ });
    const [proof, grant] = [await verified(form.client_assertion), await verified(form.assertion)];
    const common = { iss: 'robot', aud: 'https://idp.example', header: { kid: 'k1' } };
    t.match(proof, { ...common, sub: 'robot' });
    t.match(grant, { ...common, sub: 'ada' });
    t.equal(proof.exp, proof.iat! + 60);
    t.equal(grant.exp, grant.iat! + 3600);
    t.not(proof.jti, grant.jti);
    const fromFile = await logIn(t, `${client}, assertion: JWT`);
    t.equal(fromFile.form.assertion, 'aaa.bbb.ccc');
    t.match(await verified(fromFile.form.client_assertion), { iss: 'robot', sub: 'robot' });
  },
);

t.test('the password grant sends user name and password beside the client authentication', async (t) => {
  const owner = "grant: password, username: ada@example.com, password: 'p&w=1%41', scope: read";
  const confidential = await logIn(t, `${owner}, clientId: id, clientSecret: s`);
  t.match(confidential.result, { token: 'tok-1' });
  t.equal(confidential.authorization, `Basic ${Buffer.from('id:s').toString('base64')}`);
  const user = { grant_type: 'password', username: 'ada@example.com', password: 'p&w=1%41', scope: 'read' };
  t.same(confidential.form, user);
  const open = await logIn(t, `${owner}, clientId: id, clientAuthentication: none`);
  t.same(open.form, { ...user, client_id: 'id' });
  t.notMatch(JSON.stringify(open.effective), /p&w|ada@/);
  const wrong = '{"error":"invalid_grant"}';
  const refused = await logIn(
    t,
    `${owner.replace("'p&w=1%41'", "' hush'")}, clientId: id, clientAuthentication: none`,
    head('400 No', `content-length: ${wrong.length}`) + wrong,
  );
  t.match(refused.result, { code: 'refused', message: /the password begins with white space\.$/ });
});

t.test('a missing field of a grant, or a field of another grant, is a fault', async (t) => {
  const faults = async (entry: string) => {
    const yaml = `baseUrl: https://api.example.com\ncredentials: { token: { type: oauth2, tokenUrl: https://l.example/t, ${entry} } }\n`;
    const error: unknown = await loadYaml(yaml).catch((cause: unknown) => cause);
    return (error as { faults?: { key: string; problem: string }[] }).faults?.map(
      ({ key, problem }) => `${key.replace('credentials.token', '')} ${problem}`,
    );
  };
  const key = 'grant: jwtBearer, privateKey: { file: /k }';
  const cases: Readonly<Record<string, RegExp[]>> = {
    'grant: jwtBearer, clientId: i': [/^\.privateKey is missing; grant: jwtBearer needs it/],
    [key]: [/^\.clientId is missing; .*assertionClaims with iss/],
    [`${key}, clientId: i, assertionClaims: { aud: a, exp: 1 }`]: [
      /^\.assertionClaims\.aud cannot be given here: assertionAudience/,
      /^\.assertionClaims\.exp cannot be given here/,
    ],
    [`${key}, clientId: i, assertionLifetime: 2h`]: [/^\.assertionLifetime /],
    'grant: jwtBearer, clientId: i, clientAuthentication: assertion, assertion: { file: /a }': [
      /^\.clientAuthentication cannot be assertion/,
    ],
    'grant: jwtBearer, clientAuthentication: privateKeyJwt': [
      /^\.clientId is missing/,
      /^\.privateKey is missing/,
    ],
    [`${key}, clientId: i, clientAuthentication: privateKeyJwt, assertion: { file: /a }, assertionLifetime: 1h`]:
      [/^\.assertionLifetime is for an assertion that/],
    'grant: jwtBearer, assertion: { file: /a }, assertionClaims: { sub: x }': [
      /^\.assertionClaims is for an assertion that/,
    ],
    'clientId: i, clientSecret: s, assertionClaims: { sub: x }': [
      /^\.assertionClaims is for grant: jwtBearer/,
    ],
    'clientId: i, clientSecret: s, username: u': [/^\.username is for grant: password/],
    'grant: password, clientId: i, clientSecret: s, username: u': [
      /^\.password is missing; grant: password needs it/,
    ],
    'grant: passwort, clientId: i, clientSecret: s': [/^\.grant must be one of .*did you mean password/],
  };
  for (const [entry, expected] of Object.entries(cases)) {
    const found = await faults(entry);
    t.match(found, expected, entry);
    t.equal(found?.length, expected.length, entry);
  }
});
