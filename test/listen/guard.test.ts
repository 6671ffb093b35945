import t from 'tap';
import { createGuard } from '../../src/listen/guard.ts';
import { configOf } from '../support/gateway.ts';

const guard = createGuard(await configOf({ baseUrl: 'https://api.example.com' }));
/** The host of a request that arrived at this address; undefined if it is refused. */
const hostAt = (address: string, host: string) => {
  const arrival = { byUnixSocket: false, byTls: false, forRetries: false, address };
  const found = guard.checkHosts(host, undefined, arrival);
  return typeof found === 'string' ? found : undefined;
};

t.test('the address that a client connected to is accepted as Host, in any spelling', async (t) => {
  for (const [address, host] of [
    ['192.0.2.7', '192.0.2.7:9180'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['fd00::7', '[fd00::7]:9180'],
    ['fd00::7', '[FD00:0:0:0:0:0:0:7]'],
    ['fe80::fc:ff:fe00:1%eth0', '[fe80::fc:ff:fe00:1]:9180'],
    ['fe80::fc:ff:fe00:1%eth0', '[FE80:0::fc:ff:fe00:1]'],
    ['fe80::1%7', '[fe80::1]'],
    ['::192.0.2.7', '[::192.0.2.7]'],
  ] as const)
    t.ok(hostAt(address, host), `${host} at ${address}`);
  for (const [address, host] of [
    ['192.0.2.7', '192.0.2.8'],
    ['fe80::1%eth0', '[fe80::2]'],
    ['fe80::1%eth0', '[fd00::1]'],
    ['fe80::1%eth0', 'fe80::1'],
  ] as const)
    t.notOk(hostAt(address, host), `${host} at ${address}`);
});
