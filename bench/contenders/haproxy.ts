import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, scratch, versionOf } from '../children.ts';
import { TOKEN } from '../fixtures.ts';
import type { Contender } from './contender.ts';

/** Without the two ratios it would close idle connections to the upstream as soon as there are many clients. */
export const haproxy: Contender = {
  name: 'HAProxy',
  version: versionOf('haproxy', '-v'),
  warmsUp: false,
  overTls: true,
  launch: (port, { host, port: upstream, caFile }) => {
    const tls =
      caFile === undefined
        ? ''
        : ` ssl verify required verifyhost localhost sni str(localhost) ca-file ${caFile}`;
    const file = join(scratch, `haproxy-${port}.cfg`);
    writeFileSync(
      file,
      `global
  nbthread 1
  maxconn 4500
  tune.pool-high-fd-ratio 100
  tune.pool-low-fd-ratio 100
defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  http-reuse always
listen bench
  bind 127.0.0.1:${port}
  http-request set-header Authorization "Bearer ${TOKEN}"
  server upstream ${host}:${upstream}${tls}
`,
    );
    return { child: launch('haproxy', ['-f', file, '-db', '-q']) };
  },
};
