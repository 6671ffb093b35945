import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { run } from '../support/cli.ts';
import { CA_FILE, readTls } from '../support/h2-upstream.ts';

t.test(
  'the certificate authorities of the system are trusted, and those of SSL_CERT_FILE and SSL_CERT_DIR',
  async (t) => {
    const certificate = { cert: readTls('server.pem'), key: readTls('server.key') };
    const server = https.createServer(certificate, (_request, response) =>
      response.setHeader('content-type', 'application/json').end('{"accessToken":"tok","expires_in":900}'),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const env = {
      BEARERD_BASE_URL: `https://localhost:${(server.address() as AddressInfo).port}`,
      BEARERD_CLIENT_ID: 'id',
      BEARERD_CLIENT_SECRET: 'secret',
    };
    const folder = t.testdir({ trusted: { 'ca.pem': readTls('ca.pem').toString() } });
    const login = (trust: NodeJS.ProcessEnv) => run(t, ['token'], { ...env, ...trust });
    const [untrusted, byFile, byFolder] = await Promise.all([
      login({}),
      login({ SSL_CERT_FILE: CA_FILE }),
      login({ SSL_CERT_DIR: join(folder, 'trusted') }),
    ]);
    t.equal(untrusted.code, 69, untrusted.stderr);
    t.match(byFile, { code: 0, stdout: 'tok\n' });
    t.match(byFolder, { code: 0, stdout: 'tok\n' });
  },
);
