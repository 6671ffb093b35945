import type { Config, ListenTls, TlsFiles } from '../config.ts';
import { FILE_SETTINGS, SETTINGS, type Values } from '../declaration/settings.ts';
import { nested } from '../reading/maps.ts';
import { CALLERS } from '../sections/callers.ts';
import { credentialsShown } from '../sections/credentials/resolved.ts';
import { ROUTES } from '../sections/routes.ts';
import type { Declaration } from '../sections/sections.ts';
import { SINKS } from '../sections/sinks.ts';
import { HIDDEN } from '../shapes/secret.ts';

/** Every single setting at its place in the file. */
function settingsView(values: Values): Record<string, unknown> {
  const named: Readonly<Record<string, unknown>> = values;
  const given = FILE_SETTINGS.filter(({ name }) => named[name] !== undefined);
  return nested(given.map(({ name, key, kind }) => [key, kind.format(named[name])]));
}

/** As they were found, and not as they were written. */
function pathsOf({ caFile, certFile, keyFile }: TlsFiles): Record<string, string> {
  return { ...(caFile && { caFile }), ...(certFile && { certFile }), ...(keyFile && { keyFile }) };
}

interface Found {
  readonly tls: TlsFiles;
  readonly listenTls: ListenTls | undefined;
  readonly share: Config['share'] | undefined;
}

/** What is in force, for a person to read: in the shape of the file, each secret as `***`. */
export function effectiveView(
  { values, credentials, routes, callers, sinks }: Declaration,
  { tls, listenTls, share }: Found,
): Record<string, unknown> {
  const files = pathsOf(tls);
  const named = CALLERS.show(callers.named);
  // The prefix alone says nothing where nothing is shared.
  const { share: _prefix, ...settings } = settingsView(values);
  return {
    ...settings,
    ...(Object.keys(files).length > 0 && { tls: files }),
    ...(share && { share: { url: HIDDEN, prefix: share.prefix, ...(share.key && { key: HIDDEN }) } }),
    ...(listenTls && { listenTls: pathsOf(listenTls) }),
    ...(callers.unnamed && { [SETTINGS.callerKey.key]: HIDDEN }),
    ...(named !== undefined && { callers: named }),
    credentials: credentialsShown(credentials.declared),
    routes: ROUTES.show(routes),
    ...(sinks.length > 0 && { sinks: SINKS.show(sinks) }),
  };
}
