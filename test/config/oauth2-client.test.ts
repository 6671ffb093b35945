import t from 'tap';
import { CWD, faultsOfYaml, loadYaml } from './load-from.ts';

const file = (entry: string) =>
  `baseUrl: https://api.example.com\ncredentials:\n  a: { type: oauth2, ${entry} }\nroutes: [{ prefix: /, credential: a }]\n`;
const at = async (entry: string) => (await loadYaml(file(entry))).credentials.get('a');
const faults = (entry: string) => faultsOfYaml(file(entry));
const URL_ = 'tokenUrl: https://login.example/token';

t.test('each client authentication method has its fields, and files are named and not opened', async (t) => {
  t.match(
    await at(
      `issuer: https://login.example/, clientAuthentication: assertion, assertion: { file: run/token }`,
    ),
    {
      issuer: 'https://login.example/',
      clientAuthentication: 'assertion',
      assertion: { path: `${CWD}/run/token` },
    },
  );
  t.match(
    await at(`${URL_}, clientAuthentication: privateKeyJwt, clientId: i, privateKey: { file: /k }, keyId: k`),
    {
      privateKey: { path: '/k', shown: '/k' },
      algorithm: 'RS256',
      keyId: 'k',
    },
  );
  const tls = 'tls: { certFile: /c.pem, keyFile: /k.pem }';
  t.match(await at(`${URL_}, clientAuthentication: tls, clientId: i, ${tls}`), {
    tls: { certFile: { path: '/c.pem' } },
  });
  t.match(await at(`${URL_}, clientId: i, clientSecret: s, ${tls}`), {
    clientAuthentication: 'basic',
    tls: {},
  });
  const exchange = 'grant: tokenExchange, subjectToken: { file: /s }';
  t.match(await at(`${URL_}, clientAuthentication: none, ${exchange}`), {
    exchange: { subjectToken: { path: '/s' }, subjectTokenType: 'urn:ietf:params:oauth:token-type:jwt' },
  });
  const shown = await loadYaml(
    file(`${URL_}, clientAuthentication: assertion, assertion: { file: c4n4ry }, ${exchange}`),
  );
  t.match(shown.effective.credentials, { a: { subjectToken: { file: '/s' }, grant: 'tokenExchange' } });
  t.notMatch(JSON.stringify(shown.effective), /c4n4ry/, 'a secret in place of a path is not shown');
});

t.test('a missing field, or a field of another method, is a fault', async (t) => {
  t.same(await faults('clientAuthentication: assertion'), [
    'credentials.a.assertion: is missing; clientAuthentication: assertion needs it',
    'credentials.a.tokenUrl: is missing',
  ]);
  t.same(await faults(`${URL_}, issuer: https://x.example, clientAuthentication: tls, clientId: i`), [
    'credentials.a.issuer: is given together with tokenUrl; keep one of the two',
    'credentials.a.tls: is missing; clientAuthentication: tls needs it',
  ]);
  t.same(await faults(`${URL_}, clientId: i, clientSecret: s, assertion: { file: /x }, keyId: k`), [
    'credentials.a.assertion: is for clientAuthentication: assertion; it means nothing with clientAuthentication: basic',
    'credentials.a.keyId: is for clientAuthentication: privateKeyJwt; it means nothing with clientAuthentication: basic',
  ]);
  t.same(await faults(`${URL_}, clientAuthentication: assertion, assertion: c4n4ry`), [
    'credentials.a.assertion: must be {file: PATH}; it is read anew at each login',
  ]);
  t.same(await faults(`${URL_}, clientAuthentication: none, grant: tokenExchange, tls: { certFile: /x }`), [
    'credentials.a.subjectToken: is missing; grant: tokenExchange needs it',
    'credentials.a.tls.keyFile: is missing',
  ]);
  t.same(await faults(`${URL_}, clientAuthentication: none, subjectTokenType: x`), [
    'credentials.a.subjectTokenType: is for grant: tokenExchange; it means nothing with grant: clientCredentials',
  ]);
  t.match(await faults('issuer: http://login.example, clientAuthentication: none'), [
    /^credentials\.a\.issuer: may be http:\/\/ for a loopback host only/,
  ]);
  t.same(await faults(`${URL_}, clientAuthentication: privatKeyJwt, clientId: i, privateKey: { file: /k }`), [
    'credentials.a.clientAuthentication: must be one of basic, body, assertion, privateKeyJwt, tls, none; did you mean privateKeyJwt?',
  ]);
});
