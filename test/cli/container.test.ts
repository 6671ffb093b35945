import { request } from 'node:http';
import t from 'tap';
import { containerNote } from '../../src/cli/container.ts';
import type { ListenAddress } from '../../src/config/values/addresses.ts';
import { start } from '../support/cli.ts';

const LOOPBACK: ListenAddress = { kind: 'tcp', host: 'localhost', port: 9180 };
const ALL: ListenAddress = { kind: 'tcp', host: '0.0.0.0', port: 9180 };
const SOCKET: ListenAddress = { kind: 'unix', path: '/run/b' };
const mark = (path: string) => path === '/.dockerenv' || path === '/run/.containerenv';

t.test(
  'in a container that listens only on loopback, the start warns that a published port reaches nothing',
  async (t) => {
    t.match(
      containerNote({ listen: [LOOPBACK] }, {}, mark),
      /BEARERD_LISTEN=0\.0\.0\.0:9180 and BEARERD_CALLER_KEY/,
    );
    t.equal(containerNote({ listen: [LOOPBACK, ALL] }, {}, mark), undefined);
    t.equal(containerNote({ listen: [SOCKET] }, {}, mark), undefined);
  },
);

t.test(
  'outside a container, and in a pod, whose containers share loopback, the start does not warn',
  async (t) => {
    t.equal(
      containerNote({ listen: [LOOPBACK] }, {}, () => false),
      undefined,
    );
    t.equal(containerNote({ listen: [LOOPBACK] }, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }, mark), undefined);
  },
);

t.test('the demo accepts the address and the caller key that a published port needs', async (t) => {
  t.testdir({});
  const demo = start(t, ['demo', '--admin-listen', 'off', '--log-format=json'], {
    BEARERD_LISTEN: '0.0.0.0:0',
    BEARERD_CALLER_KEY: 'choose-one',
  });
  const [, port] = await demo.until(/"urls":\["http:\/\/[^"]*:(\d+)"/);
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const host = { host: '127.0.0.1', port: Number(port), path: '/companies/example.com', headers };
      request({ ...host, timeout: 120_000 }, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
  t.equal(await status({ 'x-bearerd-key': 'choose-one' }), 200);
  t.equal(await status({}), 407);
});
