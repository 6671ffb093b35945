import type { Status } from './status.ts';

/** The status as a page for people: no script, and it asks anew every two seconds. */
export function statusPage(status: Status): string {
  const credentials = Object.entries(status.credentials).map(
    ([name, c]) => `<tr><td>${text(name)}<td>${text(c.kind)}<td class="${text(c.state)}">${text(c.state)}
<td>${duration(c.expiresInSeconds)}<td>${text(c.lastLogin ?? '–')}
<td>${c.lastFailure === null ? '–' : `${text(c.lastFailure.message)}<br><small>${text(c.lastFailure.at)}</small>`}
<td>${duration(c.nextLoginInSeconds)}`,
  );
  const routes = status.routes.map(
    (r) =>
      `<tr><td><code>${text(r.prefix)}</code><td>${text(r.credential)}<td><code>${text(r.upstream)}</code><td>${r.requests}`,
  );
  const state = status.draining ? 'draining' : status.ready ? 'ready' : 'not ready';
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">
<meta name="viewport" content="width=device-width"><title>bearerd: ${state}</title>
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#1d2430;background:#fff}
h1{font-size:1.4rem}h2{font-size:1.05rem;margin-top:2rem}table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #d8dde5;vertical-align:top}
.fresh,.renewing,.ready{color:#0a6b35}.degraded,.starting{color:#8a5a00}.expired,.refused{color:#a8121f}
@media(prefers-color-scheme:dark){body{color:#dfe5ee;background:#161a20}th,td{border-color:#333b47}
.fresh,.renewing,.ready{color:#5fd38d}.degraded,.starting{color:#e0b45c}.expired,.refused{color:#ff8189}}
</style>
<h1>bearerd ${text(status.version)}: ${state}</h1>
<p>Up for ${duration(status.uptimeSeconds)}; ${status.requestsInFlight} requests under way.
The same as <a href="/status">JSON</a>, and as <a href="/metrics">metrics</a>.</p>
<h2>Credentials</h2>
<table><tr><th>Name<th>Kind<th>State<th>Expires in<th>Last login<th>Last failure<th>Next login in
${credentials.join('\n')}</table>
<h2>Routes</h2>
<table><tr><th>Prefix<th>Credential<th>Goes to<th>Requests
${routes.join('\n')}</table>
</html>
`;
}

function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
}

function text(value: string): string {
  return value.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
