import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportJWK, SignJWT } from 'jose';
import t, { type Test } from 'tap';
import { type GatewayOptions, gatewayFor } from '../support/gateway.ts';
import { identityProvider, JWT_BEARER, TOKEN_EXCHANGE } from '../support/identity-provider.ts';
import { until } from '../support/raw-client.ts';
import { RawUpstream } from '../support/raw-upstream.ts';

// Logins at a real identity provider, with each client authentication method.

const tlsFile = (name: string) => new URL(`../support/tls/${name}`, import.meta.url).pathname;
const readTls = (name: string) => readFileSync(tlsFile(name), 'utf8');

const PAIRS = {
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: generateKeyPairSync('ed25519'),
} as const;
type Algorithm = keyof typeof PAIRS;

async function publicKeys(algorithm: Algorithm) {
  return {
    keys: [{ ...(await exportJWK(PAIRS[algorithm].publicKey)), kid: 'k1', alg: algorithm, use: 'sig' }],
  };
}

/** A proxy whose only credential is the entry, with the requests of its API and the events of its log. */
async function proxyWith(t: Test, entry: string, options: Partial<GatewayOptions> = {}) {
  const api = await RawUpstream.startedFor(t);
  const yaml = `credentials:\n  a: { type: oauth2, ${entry} }\nroutes: [{ prefix: /, credential: a }]\n`;
  const env = { BEARERD_TOKEN_WAIT: '60s', ...options.env };
  const proxy = await gatewayFor(t, { baseUrl: api.url, yaml, ...options, env });
  const failures = () =>
    proxy.events.flatMap((event) => (event.type === 'login-failed' ? [event.error.message] : []));
  return { api, proxy, failures };
}

async function works(t: Test, entry: string, options?: Partial<GatewayOptions>) {
  const { api, proxy, failures } = await proxyWith(t, entry, options);
  const { status } = await proxy.get('/');
  t.same([status, failures()], [200, []], entry);
  return api.last.header('authorization') ?? '';
}

t.test('a client logs in with its secret, at an endpoint from discovery or from tokenUrl', async (t) => {
  const { issuer, given, errors } = await identityProvider(t, [
    { client_id: 'basic', client_secret: 's:e c+r', token_endpoint_auth_method: 'client_secret_basic' },
    { client_id: 'body', client_secret: 's:e c+r', token_endpoint_auth_method: 'client_secret_post' },
  ]);
  t.match(
    await works(t, `issuer: '${issuer}', clientId: basic, clientSecret: 's:e c+r', scope: read`),
    /^Bearer ./,
  );
  const body = `clientAuthentication: body, clientId: body, clientSecret: 's:e c+r'`;
  await works(t, `tokenUrl: '${issuer}/token', ${body}`);
  t.same([given, errors], [['basic', 'body'], []]);
});

t.test('a client logs in with an assertion signed by its own key, with each algorithm', async (t) => {
  const algorithms = Object.keys(PAIRS) as Algorithm[];
  const clients = algorithms.map(async (algorithm) => ({
    client_id: algorithm,
    token_endpoint_auth_method: 'private_key_jwt' as const,
    token_endpoint_auth_signing_alg: algorithm,
    jwks: await publicKeys(algorithm),
  }));
  const { issuer, given, errors } = await identityProvider(t, await Promise.all(clients));
  const folder = t.testdir(
    Object.fromEntries(
      algorithms.map((each) => [
        each,
        PAIRS[each].privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      ]),
    ),
  );
  for (const algorithm of algorithms) {
    const key = `privateKey: { file: '${join(folder, algorithm)}' }, keyId: k1, algorithm: ${algorithm}`;
    await works(
      t,
      `issuer: '${issuer}', clientAuthentication: privateKeyJwt, clientId: ${algorithm}, ${key}`,
    );
  }
  t.same([given, errors], [algorithms, []]);
});

t.test('a client logs in with its own certificate, which the API never sees', async (t) => {
  const { issuer, given, errors } = await identityProvider(
    t,
    [{ client_id: 'tls', token_endpoint_auth_method: 'tls_client_auth', tls_client_auth_subject_dn: 'CN=x' }],
    {
      tls: {
        cert: readTls('server.pem'),
        key: readTls('server.key'),
        ca: readTls('ca.pem'),
        rejectUnauthorized: false,
      },
    },
  );
  const env = { BEARERD_TLS_CA_FILE: tlsFile('ca.pem') };
  const certificate = (name: string) =>
    `tls: { certFile: '${tlsFile(`${name}.pem`)}', keyFile: '${tlsFile(`${name}.key`)}' }`;
  const entry = `issuer: '${issuer}', clientAuthentication: tls, clientId: tls, `;
  await works(t, entry + certificate('client'), { env });
  t.same([given, errors], [['tls'], []]);
  const { failures } = await proxyWith(t, entry + certificate('selfsigned'), { env });
  await until(() => failures().length > 0, 'a certificate of an unknown authority is not refused');
  t.match(failures()[0], /refuses the login \(status 40\d, invalid_client\)/);
});

t.test('a token from a file is exchanged for one of the API', async (t) => {
  const { issuer } = await identityProvider(t, [
    { client_id: 'x', token_endpoint_auth_method: 'none', grant_types: [TOKEN_EXCHANGE] },
  ]);
  const subject = join(t.testdir({ subject: 'subject-1\n' }), 'subject');
  const entry = `issuer: '${issuer}', clientAuthentication: none, clientId: x, grant: tokenExchange, audience: api, subjectToken: { file: '${subject}' }`;
  t.equal(await works(t, entry), 'Bearer exchanged-subject-1');
});

t.test('a signed assertion serves as the authorization grant', async (t) => {
  const { issuer, errors } = await identityProvider(
    t,
    [{ client_id: 'robot', token_endpoint_auth_method: 'none', grant_types: [JWT_BEARER] }],
    { bearerKey: PAIRS.ES256.publicKey },
  );
  const pem = PAIRS.ES256.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const key = join(t.testdir({ key: pem }), 'key');
  const entry = `issuer: '${issuer}', grant: jwtBearer, clientId: robot, privateKey: { file: '${key}' }, algorithm: ES256`;
  t.equal(await works(t, entry), 'Bearer for-robot');
  t.equal(await works(t, `${entry}, assertionClaims: { sub: ada }`), 'Bearer for-ada');
  t.same(errors, []);
});

t.test('a user logs in with name and password, and a wrong password is refused', async (t) => {
  const { issuer } = await identityProvider(t, [
    {
      client_id: 'x',
      client_secret: 's',
      token_endpoint_auth_method: 'client_secret_basic',
      grant_types: ['password'],
    },
  ]);
  const entry = `issuer: '${issuer}', grant: password, clientId: x, clientSecret: s, username: ada`;
  t.equal(await works(t, `${entry}, password: 'p&w=1%41 é'`), 'Bearer for-ada');
  const { failures } = await proxyWith(t, `${entry}, password: wrong`);
  await until(() => failures().length > 0, 'a wrong password is not refused');
  t.match(failures()[0], /refuses the login \(status 400, invalid_grant\)/);
});

t.test(
  'each login reads an assertion anew while it is rotated under load, and a missing file is logged',
  async (t) => {
    const { issuer, given, errors } = await identityProvider(
      t,
      [
        {
          client_id: 'pod',
          token_endpoint_auth_method: 'private_key_jwt',
          token_endpoint_auth_signing_alg: 'ES256',
          jwks: await publicKeys('ES256'),
        },
      ],
      { lifetimeS: 2 },
    );
    const file = join(t.testdir({}), 'assertion');
    // Replaced by rename, as the kubelet does. Each assertion is valid once, and for 5 s.
    const rotate = async () => {
      const jwt = new SignJWT()
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .setIssuer('pod')
        .setSubject('pod')
        .setAudience(issuer)
        .setIssuedAt()
        .setExpirationTime('5s')
        .setJti(randomUUID());
      writeFileSync(`${file}.new`, await jwt.sign(PAIRS.ES256.privateKey));
      renameSync(`${file}.new`, file);
    };
    const entry = `issuer: '${issuer}', clientAuthentication: assertion, clientId: pod, assertion: { file: '${file}' }`;
    const { proxy, failures } = await proxyWith(t, entry);
    await until(() => failures().length > 0, 'the login does not fail');
    t.equal(failures()[0], `the assertion can't be read from ${file}: no such file`);
    await rotate();
    await until(() => proxy.gateway.readiness.ready, 'the next try does not succeed');
    const rotation = setInterval(() => void rotate(), 300);
    t.teardown(() => clearInterval(rotation));
    const statuses = new Map<number, number>();
    const failed = failures().length;
    while (given.length < 4) {
      const { status } = await proxy.get('/');
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    t.same([...statuses.keys()], [200]);
    t.same([errors, failures().slice(failed)], [[], []]);
    clearInterval(rotation);
    rmSync(file);
    t.notMatch(JSON.stringify(proxy.events), /eyJ/);
  },
);
