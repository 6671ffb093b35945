import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { closeSync, constants, openSync, writeFileSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, decodeProtectedHeader, EncryptJWT } from 'jose';
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { Secret } from '../../src/base/secret.ts';
import { WITHOUT_WAITING } from '../../src/config/reading/plain-file.ts';
import type { OAuth2CredentialConfig } from '../../src/config/sections/credentials/oauth2.ts';
import { type ClientProof, proveClient } from '../../src/login/client-authentication.ts';
import { readLoginFile } from '../../src/login/login-file.ts';
import { settled } from '../support/outcome.ts';
import { until } from '../support/raw-client.ts';

const ENDPOINT = { origin: 'https://login.example', path: '/token?v=1' };
const common = {
  kind: 'oauth2',
  name: 'a',
  origins: [],
  header: 'Authorization',
  scheme: 'Bearer',
  parameters: {},
} as const;
const clientId = new Secret('id');

const { signal } = new AbortController();
const prove = (config: OAuth2CredentialConfig) => proveClient(config, ENDPOINT, systemClock, signal);
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

t.test(
  'a signed client assertion has the client as iss and sub, the token URL as aud, a life of 60 s, and a new jti',
  async (t) => {
    const files = t.testdir({
      pem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      jwk: JSON.stringify(privateKey.export({ format: 'jwk' })),
    });
    const sign = async (file: string, more = {}) => {
      const key = { path: join(files, file), shown: file };
      const method = { clientAuthentication: 'privateKeyJwt', algorithm: 'ES256', privateKey: key } as const;
      const { parameters } = await prove({ ...common, clientId, ...method, ...more });
      t.equal(
        parameters.client_assertion_type?.expose(),
        'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      );
      const jwt = parameters.client_assertion?.expose() ?? '';
      t.notMatch(JSON.stringify(parameters), /eyJ/);
      return { ...decodeJwt(jwt), header: decodeProtectedHeader(jwt) };
    };
    const [one, two] = [
      await sign('pem'),
      await sign('jwk', { keyId: 'k', assertionAudience: 'https://issuer.example' }),
    ];
    t.match(one, { iss: 'id', sub: 'id', aud: 'https://login.example/token?v=1', header: { alg: 'ES256' } });
    t.match(two, { aud: 'https://issuer.example', header: { kid: 'k' } });
    t.equal(one.exp! - one.iat!, 60);
    t.ok(Math.abs(one.iat! - Date.now() / 1000) < 30);
    t.not(one.jti, two.jti);
  },
);

t.test(
  'a file that is missing, empty, endless or invalid fails the login, and the error says so',
  async (t) => {
    const folder = t.testdir({ empty: ' \n', word: 'c4n4ry', big: 'x'.repeat(70_000), dir: {} });
    const at = (name: string) => ({ path: join(folder, name), shown: name });
    for (const [name, message] of [
      ['nowhere', "the assertion can't be read from nowhere: no such file"],
      ['dir', "the assertion can't be read from dir: it is a folder"],
      ['empty', "the assertion can't be read from empty: the file is empty"],
      ['big', "the assertion can't be read from big: it is larger than 64 KiB"],
      [
        'word',
        'the assertion is no JWT: three parts in base64url with dots between them, or five where it is encrypted',
      ],
    ] as const) {
      const config = { ...common, clientAuthentication: 'assertion', assertion: at(name) } as const;
      t.match(await settled(prove(config)), { code: 'unreachable', message });
    }
    const key = { ...common, clientId, clientAuthentication: 'privateKeyJwt', algorithm: 'RS256' } as const;
    t.match(await settled(prove({ ...key, privateKey: at('word') })), {
      code: 'unreachable',
      message: "the private key can't sign with RS256: it is no PEM or JWK, or of another kind",
    });
  },
);

t.test('an assertion from a file is a signed or an encrypted JWT', async (t) => {
  const key = new Uint8Array(32);
  const encrypted = await new EncryptJWT({ sub: 'id' })
    .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
    .encrypt(key);
  const wrapped = await new EncryptJWT({ sub: 'id' })
    .setProtectedHeader({ alg: 'A256KW', enc: 'A256GCM' })
    .encrypt(key);
  const folder = t.testdir({});
  const sent = async (text: string) => {
    writeFileSync(join(folder, 'jwt'), text);
    const assertion = { path: join(folder, 'jwt'), shown: 'jwt' };
    return settled(prove({ ...common, clientAuthentication: 'assertion', assertion }));
  };
  for (const token of [encrypted, wrapped, 'aaa.bbb.ccc', 'aaa.bbb.']) {
    const proof = (await sent(token)) as ClientProof;
    t.equal(proof.parameters.client_assertion?.expose(), token);
  }
  for (const text of ['a.b', 'a.b.c.d', 'a.b.c.d.', 'a.b.c..e', 'a.b.c.d.e.f', 'a.b.c d', '.b.c.d.e'])
    t.match(await sent(text), { code: 'unreachable', message: /three parts .* or five/ }, text);
});

t.test('a pipe is read to the end of its writer, and is empty without one', async (t) => {
  const path = join(t.testdir({}), 'pipe');
  t.equal(spawnSync('mkfifo', [path]).status, 0);
  const config = {
    ...common,
    clientAuthentication: 'assertion',
    assertion: { path, shown: 'pipe' },
  } as const;
  const message = "the assertion can't be read from pipe: the file is empty";
  t.match(await settled(prove(config)), { code: 'unreachable', message });
  const writer = openSync(path, constants.O_RDWR); // Opening it for writing alone waits for a reader.
  const assertion = await readLoginFile(config.assertion, 'assertion', signal, async () => {
    const file = await open(path, WITHOUT_WAITING);
    setImmediate(() => {
      writeSync(writer, 'aaa.bbb.ccc\n');
      closeSync(writer);
    });
    return file;
  });
  t.equal(assertion.expose(), 'aaa.bbb.ccc');
});

t.test('a read that hangs ends with its login, and no later login begins another beside it', async (t) => {
  const path = join(t.testdir({ jwt: 'aaa.bbb.ccc' }), 'jwt');
  const opened: PromiseWithResolvers<FileHandle>[] = [];
  const read = (signal: AbortSignal) =>
    readLoginFile({ path, shown: 'jwt' }, 'assertion', signal, () => {
      opened.push(Promise.withResolvers());
      return opened.at(-1)!.promise;
    });
  const message = "the assertion can't be read from jwt: its content did not come in time";
  for (const _login of ['first', 'second']) {
    const login = new AbortController();
    const failed = settled(read(login.signal));
    login.abort();
    t.match(await failed, { code: 'unreachable', message });
  }
  const third = read(signal);
  t.equal(opened.length, 1);
  opened[0]!.reject(new Error('the file system is back, and has lost the file'));
  await until(() => opened.length === 2, 'the file is not read again');
  opened[1]!.resolve(await open(path));
  t.equal((await third).expose(), 'aaa.bbb.ccc');
});
