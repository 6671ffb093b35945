import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, scratch, versionOf } from '../children.ts';
import { TOKEN } from '../fixtures.ts';
import type { Origin } from '../upstream/upstream.ts';
import type { Contender } from './contender.ts';

export const nginx: Contender = {
  name: 'nginx',
  version: versionOf('nginx', '-v'),
  warmsUp: false,
  overTls: true,
  launch: (port, origin) => {
    const prefix = join(scratch, `nginx-${port}`);
    mkdirSync(prefix);
    const file = join(prefix, 'nginx.conf');
    writeFileSync(file, configuration(port, origin));
    return { child: launch('nginx', ['-p', prefix, '-c', file, '-e', 'stderr']) };
  },
};

/** Bodies are streamed, as the others do it; connections to both sides are kept for as long as they are used. */
function configuration(port: number, { host, port: upstream, caFile }: Origin): string {
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const tls =
    caFile === undefined
      ? ''
      : `proxy_ssl_verify on; proxy_ssl_name localhost; proxy_ssl_protocols TLSv1.3; proxy_ssl_trusted_certificate ${caFile};`;
  return `${user}
daemon off;
worker_processes 1;
worker_rlimit_nofile 10000;
error_log stderr error;
pid nginx.pid;
events { worker_connections 8000; }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  keepalive_requests 1000000000;
  client_max_body_size 0;
  upstream api {
    server ${host}:${upstream};
    keepalive 4000;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass ${caFile === undefined ? 'http' : 'https'}://api;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "Bearer ${TOKEN}";
      proxy_request_buffering off;
      proxy_max_temp_file_size 0;
      ${tls}
    }
  }
}
`;
}
