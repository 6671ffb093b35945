import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, scratch, versionOf } from '../children.ts';
import { TOKEN } from '../fixtures.ts';
import type { Contender } from './contender.ts';

export const caddy: Contender = {
  name: 'Caddy',
  version: versionOf('caddy', 'version'),
  warmsUp: false,
  overTls: false,
  launch: (port, { host, port: upstream }) => {
    const file = join(scratch, `Caddyfile-${port}`);
    writeFileSync(
      file,
      `{
  admin off
  auto_https off
  log {
    level ERROR
  }
}
http://127.0.0.1:${port}, http://localhost:${port} {
  bind 127.0.0.1
  reverse_proxy ${host}:${upstream} {
    header_up Authorization "Bearer ${TOKEN}"
    transport http {
      keepalive_idle_conns_per_host 4000
    }
  }
}
`,
    );
    return {
      child: launch('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], {
        env: { GOMAXPROCS: '1' },
        stdio: 'ignore', // It tells of its start, whatever the level.
      }),
    };
  },
};
