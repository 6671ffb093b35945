import { queryObjects } from 'node:v8';
import t from 'tap';
import { Gateway } from '../../src/app/gateway.ts';
import { createBearerd } from '../../src/library/index.ts';
import { startMockApi } from '../../src/mock/mock-api.ts';
import { RenewingSource } from '../../src/tokens/renewing-source.ts';
import { hostLogFor } from '../support/internal-errors.ts';
import { until } from '../support/raw-client.ts';

const api = await startMockApi();
t.teardown(() => api.close());
const { clientId, clientSecret } = api.credentials;
const log = hostLogFor(t);

/** A proxy that has served a request and closed. */
async function openAndClose(): Promise<void> {
  const bearerd = await createBearerd(
    {
      baseUrl: api.url,
      listen: ['127.0.0.1:0'],
      admin: { listen: '127.0.0.1:0' },
      credentials: { token: { type: 'session', clientId, clientSecret } },
    },
    { log },
  );
  await bearerd.ready();
  await fetch(`${bearerd.urls[0]}/echo`).then((answer) => answer.text());
  await fetch(`${bearerd.adminUrls[0]}/metrics`).then((answer) => answer.text());
  await bearerd.close();
}

/** The number of gateways in memory, after a garbage collection. */
function left(of: typeof Gateway | typeof RenewingSource): number {
  return Number(queryObjects(of));
}

t.test('a closed proxy is garbage-collected', async (t) => {
  for (let n = 0; n < 4; n++) await openAndClose();
  // The last one may still be referenced by a register, or by a connection that is closing.
  await until(() => left(Gateway) <= 1 && left(RenewingSource) <= 1, 'proxies stay');
  t.ok(left(Gateway) <= 1);
});
