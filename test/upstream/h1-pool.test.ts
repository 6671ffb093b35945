import { Socket } from 'node:net';
import t from 'tap';
import type { Problem } from '../../src/base/problem.ts';
import type { Receiver } from '../../src/upstream/carrier.ts';
import { Http1Pool } from '../../src/upstream/h1-pool.ts';

const ALONE = { fresh: true, upgrade: false, http1: false, upload: false, once: false };

t.test(
  'if a new connection is closed before it carries the request, the problem says that nothing was sent',
  async (t) => {
    const socket = new Socket();
    socket.destroy();
    const pool = new Http1Pool({
      host: 'api.example.com',
      headerSizeBytes: 1024,
      open: (done) => setImmediate(() => done(null, socket)),
      plain: true,
    });
    const problem = await new Promise<Problem>((resolve) => {
      const receiver: Receiver = {
        opened: () => {},
        ready: () => t.fail('the request got a closed connection'),
        responded: () => {},
        received: () => true,
        ended: () => {},
        switched: () => {},
        failed: resolve,
        drained: () => {},
      };
      pool.send(receiver, ALONE);
    });
    t.equal(problem.message, 'The upstream closed the connection while it was being made.');
    t.match(problem.remedy, /^Nothing was sent\./);
  },
);
