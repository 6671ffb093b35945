import { homedir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { checked, read } from './read.ts';

// The configuration that a line gives, without a disk or a network.

const KEY = "-H 'X-Api-Key: k-1'";

t.test('of several credentials one is used, and the others are named', async (t) => {
  const CARRIED: readonly (readonly [line: string, yaml: RegExp, others: readonly string[]])[] = [
    ['curl https://h/ -u ada:pw -H "Authorization: Bearer k"', /type: apiKey\n {4}key/, ['-u']],
    ['curl https://h/ -u ada:pw --oauth2-bearer k', /type: basic\n {4}username: ada\n/, ['--oauth2-bearer']],
    [`curl 'https://h/?token=t' ${KEY}`, /header: X-Api-Key/, ['query parameter token']],
    [
      "curl 'https://h/' -H 'DD-API-KEY: a' -H 'DD-APPLICATION-KEY: b'",
      /header: DD-API-KEY/,
      ['header DD-APPLICATION-KEY'],
    ],
    [`curl https://h/ ${KEY} -b 'session=s; a=b'`, /header: X-Api-Key/, ['cookie session', 'cookie a']],
    ["curl https://ada:p%40w@h/ -H 'Accept: */*'", /username: ada\n/, []],
    ["curl https://h/ -b 'a=b; sid=s'", /in: cookie\n {4}name: sid\n/, ['cookie a']],
    ["curl https://h/ -H 'Cookie: only=s'", /in: cookie\n {4}name: only\n/, []],
  ];
  for (const [line, yaml, others] of CARRIED) {
    const { found, yaml: text, call } = read(line);
    t.match(text, yaml, line);
    t.same(found.others, others, line);
    t.notMatch(call, /k-1|pw|session|sid|Authorization|KEY/i, line);
  }
});

t.test('names that only sound like credentials are left alone', async (t) => {
  for (const name of ['Idempotency-Key', 'X-CSRF-Token', 'Page-Token', 'Sec-WebSocket-Key', 'X-Request-Id']) {
    const { call } = read(`curl https://h/ ${KEY} -H '${name}: v'`);
    t.match(call, `-H '${name}: v'`);
  }
  const query = 'nextToken=n&pageKey=p&nextPageToken=n&sort%2Dkey=s&monkey=m&csrftoken=c&q=a%20b';
  const { call } = read(`curl 'https://h/x?${query}' ${KEY}`);
  t.match(call, `'http://localhost:9180/x?${query}'`);
});

t.test(
  'the name of a credential is known without separators, behind other words, and with escapes',
  async (t) => {
    const NAMES = ['XAPIKEY', 'myapikey', 'acmeaccesstoken', 'userauthtoken', 'awssecretkey', 'clientsecret'];
    for (const name of [...NAMES, 'api%5Fkey', 'api+key', '%6bey']) {
      const { found, call } = read(`curl 'https://h/x?${name}=k-2&a=b' ${KEY}`);
      t.same(found.others, [`query parameter ${name}`], name);
      t.equal(call, "curl 'http://localhost:9180/x?a=b'", name);
    }
    t.match(read("curl 'https://h/x?api%5Fkey=k-2'").yaml, '\n    name: api_key\n');
    for (const name of NAMES) t.notMatch(read(`curl https://h/ -u a:b -H '${name}: k-2'`).call, 'k-2', name);
  },
);

t.test(
  'TLS options become settings, other connection options are named, and the rest stays in the printed call',
  async (t) => {
    const { call, leftOut, yaml } = read(
      `curl -sSL -X POST --max-time 5 -d '{"a":"it'\\''s"}' https://h:8443/p/q ${KEY} --cacert ca.pem --cert c.pem --key k.pem --resolve h:8443:10.0.0.1 --tlsv1.2 -H 'Origin: https://x' -H 'Sec-Fetch-Mode: cors' | jq`,
      'conf/bearerd.yaml',
    );
    t.equal(call, `curl -s -S -L -X POST --max-time 5 -d '{"a":"it'\\''s"}' http://localhost:9180/p/q`);
    t.match(yaml, /baseUrl: "?https:\/\/h:8443"?\n/);
    t.match(
      yaml,
      /tls:\n {2}caFile: "?\.\.\/ca\.pem"?\n {2}certFile: "?\.\.\/c\.pem"?\n {2}keyFile: "?\.\.\/k\.pem"?\n/,
    );
    for (const name of ['--resolve', '--tlsv1.2', '| …'])
      t.ok(
        leftOut.some((what) => what.includes(name)),
        name,
      );
  },
);

t.test('each option and header that the printed call lacks is named', async (t) => {
  const DROPPED: readonly (readonly [given: string, names: RegExp])[] = [
    ['-b jar.txt', /^-b: bearerd keeps no cookies/],
    ['-c jar.txt', /^-c: bearerd keeps no cookies/],
    ['-j', /^-j: bearerd keeps no cookies/],
    ['--request-target /x', /^--request-target: bearerd sends the path of the URL/],
    ['--path-as-is', /^--path-as-is: bearerd sends the path of the URL/],
    ["-H 'Proxy-Authorization: Basic k-2'", /^header Proxy-Authorization: it is for a proxy/],
    ["-H 'Proxy-Token: k-2'", /^header Proxy-Token: it is for a proxy/],
    ["-H 'Origin: https://x'", /^header Origin: it is about/],
    ['| jq', /^what stands behind the command \(\| …\)$/],
    ['2>k-2', /^what stands behind the command \(2> …\)$/],
    ['\nk-2', /^what stands behind the command \(another line …\)$/],
  ];
  for (const [given, names] of DROPPED) {
    const { call, leftOut } = read(`curl https://h/ ${KEY} ${given}`);
    t.equal(call, 'curl http://localhost:9180/', given);
    t.equal(leftOut.length, 1, given);
    t.match(leftOut[0], names, given);
    t.notMatch(leftOut[0], 'k-2', given);
  }
  t.same(read(`curl https://h/ ${KEY} -b a=b`).leftOut, [], 'a cookie is named as another credential');
});

t.test('the printed call has no part of a credential in the query, however curl escapes it', async (t) => {
  for (const [given, kept] of [
    ["--url-query '+token=k-2&a=b'", '--url-query +a=b '],
    ["--url-query '+token=k-2'", ''],
    ["--url-query 'token=k-2&a=k-2'", ''],
    ["-G --data-urlencode 'token=k-2&a=k-2' -d 'b=c&key=k-2'", '-G -d b=c '],
  ] as const)
    t.equal(read(`curl https://h/ ${KEY} ${given}`).call, `curl ${kept}http://localhost:9180/`, given);
});

t.test('the scheme OAuth carries a token, unless the request is signed', async (t) => {
  t.match(read("curl https://h/ -H 'Authorization: OAuth k-1'").yaml, /\n {4}scheme: OAuth\n/);
  for (const value of ['oauth_consumer_key="k-1"', 'realm="x", oauth_signature = "k-1"'])
    t.throws(
      () => read(`curl https://h/ -H 'Authorization: OAuth ${value}'`),
      { code: 'usage', message: /made anew for each request/ },
      value,
    );
});

t.test('of a proxy only the address is printed, for a shell', async (t) => {
  const PROXIES: readonly (readonly [given: string, proxy: string])[] = [
    ['', ''],
    ['proxy:3128', 'HTTPS_PROXY=http://proxy:3128 '],
    ['https://proxy/', 'HTTPS_PROXY=https://proxy '],
    ['http://u:k-2@proxy:3128', 'HTTPS_PROXY=http://USER:PASSWORD@proxy:3128 '],
    ['http://u:p@k-2@proxy:3128', 'HTTPS_PROXY=http://USER:PASSWORD@proxy:3128 '],
    ['$U:$P@proxy', 'HTTPS_PROXY=http://USER:PASSWORD@proxy '],
    ['[::1]:3128', "HTTPS_PROXY='http://[::1]:3128' "],
    ['proxy;id', "HTTPS_PROXY='http://proxy;id' "],
  ];
  for (const [given, proxy] of PROXIES)
    t.equal(read(`curl https://h/ ${KEY} -x "${given}"`).proxy, proxy, given);
  t.equal(
    read(`curl http://localhost/ ${KEY} -x proxy -U u:k-2`).proxy,
    'HTTP_PROXY=http://USER:PASSWORD@proxy ',
  );
  for (const given of [
    'u:k-2/w@proxy:3128',
    'u:1k-2#w@proxy',
    'u:1/k-2@proxy',
    'http://k-2:p',
    'socks5://k-2',
    'h$X',
  ]) {
    const refused = t.throws(() => read(`curl https://h/ ${KEY} -x "${given}"`), {
      code: 'usage',
      message: /^-x/,
    });
    t.notMatch((refused as Error).message, 'k-2', given);
  }
});

t.test('a client certificate alone makes a route without a credential', async (t) => {
  const { yaml, secrets } = read('curl https://h/x -E client.pem');
  t.match(yaml, /tls:\n {2}certFile: client\.pem\n {2}keyFile: client\.pem\n/);
  t.match(yaml, /credential: none/);
  t.notMatch(yaml, /credentials:/);
  t.same(secrets, []);
});

t.test('a file below ~ is one of the home directory, as for a shell', async (t) => {
  const { yaml, call } = read(
    `curl https://h/ ${KEY} --cacert ~/ca.pem --cert ~/c.pem --key ~/k.pem -o ~/out`,
    join(homedir(), 'conf/bearerd.yaml'),
  );
  t.match(yaml, /caFile: "\.\.\/ca\.pem"\n {2}certFile: "\.\.\/c\.pem"\n {2}keyFile: "\.\.\/k\.pem"\n/);
  t.match(call, `${homedir()}/out`);
  for (const given of ["--cacert '~/ca.pem'", '--cacert=~/ca.pem', '-E~/c.pem', '-E c.pem --key "~/k.pem"'])
    t.throws(
      () => read(`curl https://h/ ${KEY} ${given}`),
      { code: 'usage', message: /write the whole path/ },
      given,
    );
});

t.test('the passphrase of a certificate is told from its file as curl does', async (t) => {
  const NAMES: readonly (readonly [given: string, yaml: string])[] = [
    ['c.pem', 'c.pem'],
    ['c.pem:', 'c.pem'],
    ['a\\:b.pem', 'a:b.pem'],
    ['a\\\\b', '"a\\\\b"'],
    ['a\\b', '"a\\\\b"'],
  ];
  for (const [given, file] of NAMES)
    t.match(read(`curl https://h/ -E '${given}'`).yaml, `\n  certFile: ${file}\n`, given);
  for (const given of ["'c.pem:hunter2'", '"c.pem:$PW"', "'a\\\\:hunter2'"]) {
    const refused = t.throws(() => read(`curl https://h/ --cert ${given}`), { code: 'usage' });
    t.match((refused as Error).message, /without a passphrase/, given);
    t.notMatch((refused as Error).message, /hunter2|PW/, given);
  }
});

const FAULTY: readonly (readonly [line: string, says: RegExp])[] = [
  [`curl https://h/ -b 'sid="s"'`, /^credentials\.apiKey\.key: cannot be sent in a cookie/],
  ["curl https://h/ -b 'sid=a,b'", /in a cookie/],
  ["curl https://h/ -b 'sid=a b'", /in a cookie/],
  ["curl https://h/ -b 'my sid=s'", /credentials\.apiKey\.name: must be a cookie name/],
  ["curl https://h/ -H $'X-Api-Key: a\\x01'", /key: cannot be sent in a header/],
  ["curl https://h/ -H 'Authorization: Bearer a\uFFFD'", /key: .*not UTF-8 text/],
  ["curl https://h/ -H 'X-Bearerd-Key: k'", /header: must be another header/],
  ["curl https://h/ -H 'X Api Key: k'", /header: must be a header name/],
  ["curl https://h/ -u $'ada:p\\x01'", /password: holds a control character/],
  ["curl https://h/ -u $'ada:p\\n'", /password: holds a control character/],
  ["curl https://h//login -d 'username=a&password=b'", /session\.path: .*doubled slash/],
  ['curl https://h/ -d username=a -d password=b', /session\.path: must be more than \//],
  ["curl 'https://h/a b' -u i:s -d grant_type=client_credentials", /tokenUrl: is not a valid URL/],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what a shell reads
  ["curl https://h/ -u i:s -d grant_type=client_credentials -d 'scope=${S}'", /scope: .*is not replaced/],
];

t.test('what check would refuse is refused before anything is written', async (t) => {
  for (const [line, says] of FAULTY) await t.rejects(checked(line), { code: 'usage', message: says }, line);
  for (const line of [
    `curl https://h/ ${KEY} --cacert not-there.pem`,
    'curl https://h/ -u "$NOT_SET:$BEARERD_PASSWORD"',
    'curl https://h/ -H "Authorization: Bearer $(print token)"',
    "curl https://h/token -u i:s -d grant_type=client_credentials -d 'scope=read write'",
    "curl https://h/ -b 'sid=a-b'",
  ])
    await t.resolves(checked(line), line);
});

t.test('the line end of a secret is a part of it', async (t) => {
  const { secrets } = read("curl https://h/t -u $'i:s\\n' -d grant_type=client_credentials");
  t.equal(secrets[0]?.text, 's\n\n');
});

t.test('each of several secrets has its own file, named after the field', async (t) => {
  const { secrets, yaml } = read(
    'curl https://h/token -d grant_type=password -d username=ada -d password=p -d client_id=c -d client_secret=s',
    'conf/api.yaml',
  );
  t.same(secrets, [
    { path: 'conf/bearerd-secret-password', text: 'p' },
    { path: 'conf/bearerd-secret-clientSecret', text: 's' },
  ]);
  t.match(yaml, /grant: password\n {4}username: ada\n {4}password: \{ file: bearerd-secret-password \}/);
});

t.test('a password that is a common word is a secret, unless the user name looks like a key', async (t) => {
  const person = read('curl -u ada:password https://h/');
  t.match(person.yaml, /username: \{ file: \S+ \}\n {4}password: \{ file: \S+ \}\n/);
  t.same(
    person.secrets.map(({ text }) => text),
    ['ada', 'password'],
  );
  const key = read('curl -u 1971800d4d82861d8f2c1651fea4d212:api_token https://h/');
  t.match(key.yaml, /username: \{ file: \S+ \}\n {4}password: api_token\n/);
  t.equal(key.secrets.length, 1);
});

t.test('a user name alone in the URL has an empty password, as in curl', async (t) => {
  const SENT: readonly (readonly [url: string, user: string, password: RegExp])[] = [
    ['https://KEY@h/', 'KEY', /password: ""\n/],
    ['https://KEY:@h/', 'KEY', /password: ""\n/],
    ['https://a%3Ab@h/', 'a', /password: \{ file: \S+ \}\n/],
  ];
  for (const [url, user, password] of SENT) {
    const { yaml, secrets } = read(`curl ${url}`);
    t.match(yaml, password, url);
    t.ok(yaml.includes(`username: ${user}\n`) || secrets[0]?.text === user, url);
    await t.resolves(checked(`curl ${url}`), url);
  }
  t.match(read('curl https://a%3Ab@h/').secrets, [{ text: 'b:' }]);
  t.match(read('curl "https://$KEY@h/"').yaml, /username: \{ env: KEY \}\n {4}password: ""\n/);
});

t.test('a variable becomes { env: NAME }, without a file', async (t) => {
  const { secrets, yaml } = read('curl -u "$USER_ID:$PW" https://h/');
  t.match(yaml, /username: \{ env: USER_ID \}\n {4}password: \{ env: PW \}\n/);
  t.same(secrets, []);
});

const REFUSED: readonly (readonly [line: string, says: RegExp])[] = [
  ['wget https://h/', /does not begin with curl/],
  ['', /does not begin with curl/],
  ['curl', /has no URL/],
  [`curl https://h/ https://i/ ${KEY}`, /more than one URL/],
  ['curl https://h/', /no credential that bearerd can send/],
  ["curl https://h/ -d 'token=t'", /"token" is in the body/],
  [`curl -k https://h/ ${KEY}`, /-k: .*--cacert FILE/],
  [`curl --insecure https://h/ ${KEY}`, /--insecure: /],
  [`curl --digest -u a:b https://h/`, /--digest: /],
  [`curl --aws-sigv4 aws:amz -u a:b https://h/`, /does not sign/],
  [`curl -n https://h/`, /-n: .*another file/],
  [`curl -K f https://h/`, /-K: .*another file/],
  [`curl http://h/ ${KEY}`, /the URL is http:\/\//],
  [`curl h/ ${KEY}`, /has no https:\/\//],
  [`curl ftp://h/ ${KEY}`, /not https:\/\//],
  [`curl https://h/ -H`, /-H has no value/],
  [`curl https://h/ --heder x`, /--heder is not an option of curl; did you mean --header/],
  [`curl https://h/ -ü`, /an option is not an option of curl/],
  [`curl https://$HOST/ ${KEY}`, /the host of the URL holds \$HOST/],
  [`curl https://h/$ORG ${KEY}`, /the path of the URL holds \$ORG/],
  [`curl https://h/ ${KEY} -d "$BODY"`, /the value of -d .* holds \$BODY/],
  ['curl https://h/ -H "X-Api-Key: k-$X"', /has to be the whole secret/],
  ['curl https://h/ -u ada', /-u has no password/],
  ["curl https://h/ -H 'Authorization: AWS4-HMAC-SHA256 Credential=x'", /made anew for each request/],
  [
    'curl https://h/token -d grant_type=authorization_code -d code=c',
    /by authorization_code is not carried over/,
  ],
  [`curl https://h/ ${KEY} -E pkcs11:token=t`, /from a PEM file only/],
  [`curl https://h/ ${KEY} --key k.pem`, /--key is given without --cert/],
  [`curl https://h/ ${KEY} -E client.p12 --cert-type P12`, /PEM files, and not P12/],
];

t.test('a line that has no equivalent is refused with the reason', async (t) => {
  for (const [line, says] of REFUSED) {
    t.throws(() => read(line), { code: 'usage', message: says }, line);
    try {
      read(line);
    } catch (error) {
      t.notMatch((error as Error).message, /k-1|Credential=x/, line);
    }
  }
});
