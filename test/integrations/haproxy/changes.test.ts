import t from 'tap';
import { request } from '../../support/gateway.ts';
import { NO_HAPROXY } from '../../support/haproxy.ts';
import { forwardClock, pairFor } from '../../support/lanes.ts';
import { RawClient, until } from '../../support/raw-client.ts';
import { head, ok } from '../../support/raw-upstream.ts';
import { share } from '../../support/share.ts';

// No request fails while tokens change. LANES_REQUESTS=100000 gives a long run, with 50 renewals and 10 revocations.

const REQUESTS = Number(process.env.LANES_REQUESTS ?? share(5_000));
const CHANGES = REQUESTS < 50_000 ? 12 : 60;
/** One in this many changes is a revocation. */
const REVOKED_OF = 6;
const CLIENTS = 16;

t.test(
  'no request fails during renewals and revocations',
  { skip: NO_HAPROXY, timeout: 600_000 },
  async (t) => {
    const clock = forwardClock();
    const pair = await pairFor(t, {
      yaml: 'credentials: { token: { type: session, clientId: sa-1, clientSecret: client-secret } }',
      env: { BEARERD_ADMIN_LISTEN: '127.0.0.1:0' },
      clock,
    });
    const { upstream } = pair;
    let firstGood = 1;
    upstream.onRequest = ({ header, target }, { body }) => {
      if (upstream.requests.length > 1_000) upstream.requests.length = 0;
      const token = Number(/^Bearer tok-(\d+)$/.exec(header('authorization') ?? '')?.[1]);
      return token >= firstGood
        ? ok(`${target} ${body.length}`)
        : head('401 Unauthorized', 'content-length: 0');
    };

    let begun = 0;
    const failed: string[] = [];
    const client = async () => {
      const connection = await RawClient.to(pair.front, { keep: false });
      while (begun < REQUESTS) {
        const n = begun++;
        const isPost = n % 10 === 0;
        const lines = isPost ? ['POST', 'content-length: 100'] : ['GET', 'accept: */*'];
        connection.send(request(lines[0]!, `/x/${n}`, lines[1]!) + (isPost ? 'b'.repeat(100) : ''));
        const { status, text } = await connection.response();
        if (status !== 200 || text !== `/x/${n} ${isPost ? 100 : 0}`) failed.push(`${n}: ${status} ${text}`);
      }
      connection.close();
    };

    const change = async (n: number) => {
      await until(() => begun >= (n * REQUESTS) / (CHANGES + 1), `change ${n} is not reached`, 300_000);
      clock.forward(10_000); // There is one forced renewal in ten seconds.
      const { logins } = upstream;
      if (n % REVOKED_OF === 0) firstGood = logins + 1;
      else await fetch(`http://127.0.0.1:${pair.adminPort}/renew`, { method: 'POST' });
      await until(() => upstream.logins > logins, `no login at change ${n}`);
    };
    const changes = async () => {
      for (let n = 1; n <= CHANGES; n++) await change(n);
    };
    await Promise.all([changes(), ...Array.from({ length: CLIENTS }, client)]);

    const slow = pair.requests().length;
    t.same(failed, []);
    t.equal(upstream.logins, CHANGES + 1);
    t.ok(slow < REQUESTS / 2, `${slow} of ${REQUESTS} went through bearerd`);
    t.comment(`${REQUESTS} requests, ${CHANGES} changes of the token: ${slow} went through bearerd`);
  },
);
