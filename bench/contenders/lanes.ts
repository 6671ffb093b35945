import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runtimeCommand } from '../../src/integrations/haproxy/runtime-api.ts';
import { freePort, launch, scratch } from '../children.ts';
import { MAIN, NODE_ENV, NODE_FLAGS } from './bearerd.ts';
import type { Contender } from './contender.ts';
import { haproxy } from './haproxy.ts';

/** Of the two, as one: the shell ends when it is told to, and both with it. */
const BOTH = `"$0" ${NODE_FLAGS.join(' ')} "$1" start >/dev/null & a=$!
haproxy -db -q -f "$2" -f "$3" & b=$!
trap 'kill $a $b' TERM
wait`;

/** For the heads that are usual: HAProxy copies a buffer as large as `limits.headerSize` for each request. */
const smallHeads = '12KiB';

export const lanes = pair('HAProxy in front of bearerd', '32KiB');
export const lanesForSmallHeads = pair(`the same with limits.headerSize ${smallHeads}`, smallHeads);

/** bearerd and the HAProxy in front of it that it renders; on one thread, with the ratios of the HAProxy alone. */
function pair(name: string, headerSize: string): Contender {
  return {
    name,
    version: haproxy.version,
    warmsUp: false,
    overTls: false,
    launch: async (port, { host, port: upstream }) => {
      const [own, admin] = [await freePort(), await freePort()];
      const path = (file: string) => join(scratch, `lanes-${headerSize}-${file}`);
      writeFileSync(path('map'), '');
      writeFileSync(
        path('bearerd.yaml'),
        `
baseUrl: http://${host}:${upstream}
listen: 127.0.0.1:${own}
admin: { listen: '127.0.0.1:${admin}' }
credentials: { token: { type: session, clientId: bench, clientSecret: bench } }
limits: { headerSize: ${headerSize} }
sinks: [{ haproxy: 'unix:${path('api')}', map: ${path('map')} }]
`,
      );
      const env = { ...NODE_ENV, PATH: process.env.PATH, BEARERD_CONFIG: path('bearerd.yaml') };
      const rendered = spawnSync(
        process.execPath,
        [MAIN, 'render', 'haproxy', '--listen', `127.0.0.1:${port}`],
        {
          env,
          encoding: 'utf8',
        },
      );
      if (rendered.status !== 0) throw new Error(rendered.stderr);
      writeFileSync(path('haproxy.cfg'), rendered.stdout);
      writeFileSync(
        path('tuning.cfg'),
        'global\n  nbthread 1\n  maxconn 4500\n  tune.pool-high-fd-ratio 100\n  tune.pool-low-fd-ratio 100\n',
      );
      const child = launch(
        'sh',
        ['-c', BOTH, process.execPath, MAIN, path('tuning.cfg'), path('haproxy.cfg')],
        { env },
      );
      await token(path('api'), path('map'));
      return { child };
    },
  };
}

/** Before that everything goes through bearerd. */
async function token(api: string, map: string): Promise<void> {
  for (let n = 0; n < 200; n++) {
    const entries = await runtimeCommand(api, `show map ${map}`).catch(() => '');
    if (entries.includes('token')) return;
    await sleep(50);
  }
  throw new Error('HAProxy has got no token');
}
