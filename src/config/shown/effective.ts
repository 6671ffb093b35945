import { PLAIN_SETTINGS } from '../declaration/settings.ts';
import { nested } from '../reading/maps.ts';
import { withPlacement } from '../sections/credentials/credential.ts';
import type { Declaration } from '../sections/declaration.ts';
import { FILE } from '../sections/file.ts';
import type { ShareConfig } from '../sections/share.ts';
import type { ListenTls, TlsFiles } from '../sections/tls.ts';
import { HIDDEN } from '../shapes/secret.ts';

interface Found {
  readonly tls: TlsFiles;
  readonly listenTls: ListenTls | undefined;
  readonly share: ShareConfig | undefined;
}

/** What is in force, for a person to read: in the shape of the file, each secret as `***`. */
export function effectiveView(
  { values, credentials, routes, callers, sinks }: Declaration,
  { tls, listenTls, share }: Found,
): Record<string, unknown> {
  const named: Readonly<Record<string, unknown>> = values;
  const inForce = [...credentials.declared].map(
    ([name, credential]) => [name, { at: credential.at, value: withPlacement(credential) }] as const,
  );
  const shown = FILE.show({
    ...nested(PLAIN_SETTINGS.flatMap(([name, { key }]) => (key === undefined ? [] : [[key, named[name]]]))),
    // Absolute paths, and not as they were written.
    tls,
    listenTls,
    // The prefix has a default, and means nothing without a URL.
    share: share && { ...share, url: share.server },
    callerKey: callers.unnamed,
    callers: callers.named.size > 0 ? callers.named : undefined,
    credentials: new Map(inForce),
    routes,
    sinks: sinks.length > 0 ? sinks : undefined,
  }) as Record<string, object>;
  // The URL comes first.
  return { ...shown, ...(share && { share: { url: HIDDEN, ...shown.share } }) };
}
