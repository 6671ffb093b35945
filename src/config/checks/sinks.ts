import type { CredentialConfig, RouteConfig, SinkConfig } from '../config.ts';
import type { Credentials } from '../reading/credentials.ts';
import type { Reading } from '../reading/reading.ts';
import type { SinkDraft } from '../reading/sinks.ts';
import { didYouMean, nearest } from '../values/nearest.ts';

/** A sink must have something to hold, and a place of its own: what it writes replaces what is there. */
export function checkSinks(sinks: readonly SinkDraft[], { names }: Credentials, reading: Reading): void {
  for (const [index, sink] of sinks.entries()) {
    const { at, kind, path } = sink;
    if (sinks.slice(0, index).some((other) => other.path === path)) {
      reading.report(`${at}.${kind}`, 'is the place of another sink');
    }
    if (reading.filesRead.has(path) || path === reading.file.path) {
      reading.report(`${at}.${kind}`, 'names a file of the configuration itself');
    }
    if (kind === 'haproxy' || names.includes(sink.credential)) continue;
    const hint = didYouMean(nearest(sink.credential, names));
    const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
    reading.report(
      `${at}.credential`,
      `names the credential ${sink.credential}, which does not exist (${known})${hint}`,
    );
  }
}

/** The finished sinks, once there is no fault left. */
export function finishSinks(
  sinks: readonly SinkDraft[],
  credentials: ReadonlyMap<string, CredentialConfig>,
  routes: readonly RouteConfig[],
): readonly SinkConfig[] {
  return sinks.map(({ at: _at, ...sink }): SinkConfig => {
    if (sink.kind !== 'haproxy') return sink;
    return { ...sink, credentials: sentInHeaders(credentials, routes) };
  });
}

/** A proxy in front can only set a header, and only where the client's own and the answer need no look. */
function sentInHeaders(
  credentials: ReadonlyMap<string, CredentialConfig>,
  routes: readonly RouteConfig[],
): readonly string[] {
  const plain = routes.filter(
    ({ clientAuthorization, scrub }) => clientAuthorization === 'replace' && !scrub,
  );
  const used = new Set(plain.map(({ credential }) => credential));
  return [...used].filter((name) => {
    const credential = credentials.get(name);
    return credential !== undefined && credential.elsewhere === undefined;
  });
}
