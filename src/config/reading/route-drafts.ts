import type { RouteConfig, Timeouts, Upstream } from '../config.ts';
import { ROUTE_FIELDS, TIMEOUT_FIELDS } from '../declaration/file-fields.ts';
import { SETTINGS, type Values } from '../declaration/settings.ts';
import type { Kind } from '../values/kind.ts';
import type { Credentials } from './credentials.ts';
import type { Report } from './faults.ts';
import {
  below,
  entry,
  isAbsent,
  isMap,
  readField,
  readMap,
  reportUnknownKeys,
  valueAt,
  type YamlMap,
} from './maps.ts';
import type { Reading } from './reading.ts';
import { isWhole } from './single-settings.ts';

type Field = 'prefix' | 'credential' | 'upstream' | 'upstreamAddress';

/** A route as it was read; what is undefined was not given or had a fault. */
export interface RouteDraft extends Omit<RouteConfig, 'upstream' | 'prefix' | 'credential'> {
  readonly prefix: string | undefined;
  readonly credential: string | undefined;
  /** Its own one, not the global one. */
  readonly upstream: Upstream | undefined;
  /** Reports a fault at one of its fields. */
  readonly report: (field: Field, problem: string) => void;
}

/** What a route has where it says nothing of its own. */
type Common = Pick<RouteConfig, 'timeouts' | 'scrub'>;

function commonOf(values: Values): Common {
  const timeouts = { connectMs: values.connectMs, responseMs: values.responseMs, idleMs: values.idleMs };
  return { timeouts, scrub: values.scrub };
}

function readTimeouts(raw: unknown, path: string, timeouts: Timeouts, report: Report): Timeouts {
  const map = readMap(raw, path, report);
  reportUnknownKeys(map, path, Object.keys(TIMEOUT_FIELDS), report);
  const read = (name: keyof typeof TIMEOUT_FIELDS) =>
    readField(map, path, name, TIMEOUT_FIELDS[name].kind, report);
  return {
    connectMs: read('connect') ?? timeouts.connectMs,
    responseMs: read('response') ?? timeouts.responseMs,
    idleMs: read('idle') ?? timeouts.idleMs,
  };
}

function draftFromFile(raw: unknown, path: string, common: Common, report: Report): RouteDraft {
  const map: YamlMap = readMap(raw, path, report);
  reportUnknownKeys(map, path, [...Object.keys(ROUTE_FIELDS), 'timeouts'], report);
  const read = <T>(name: string, { kind }: { kind: Kind<T> }) => readField(map, path, name, kind, report);
  for (const name of isMap(raw) || isAbsent(raw) ? ['prefix', 'credential'] : []) {
    if (isAbsent(entry(map, name))) report(below(path, name), 'is missing');
  }
  const methods = read('methods', ROUTE_FIELDS.methods);
  const rewrite = read('rewrite', ROUTE_FIELDS.rewrite);
  const upstreamAddress = read('upstreamAddress', ROUTE_FIELDS.upstreamAddress);
  return {
    prefix: read('prefix', ROUTE_FIELDS.prefix),
    credential: read('credential', ROUTE_FIELDS.credential),
    ...(methods && { methods }),
    ...(rewrite && { rewrite }),
    upstream: read('upstream', ROUTE_FIELDS.upstream),
    ...(upstreamAddress && { upstreamAddress }),
    timeouts: readTimeouts(entry(map, 'timeouts'), below(path, 'timeouts'), common.timeouts, report),
    clientAuthorization:
      read('clientAuthorization', ROUTE_FIELDS.clientAuthorization) ??
      ROUTE_FIELDS.clientAuthorization.default,
    overrideHeaders:
      read('overrideHeaders', ROUTE_FIELDS.overrideHeaders) ?? ROUTE_FIELDS.overrideHeaders.default,
    scrub: read('scrub', ROUTE_FIELDS.scrub) ?? common.scrub,
    report: (field, problem) => report(below(path, field), problem),
  };
}

function draftsFromFile(reading: Reading, common: Common): readonly RouteDraft[] | undefined {
  const { report, file } = reading;
  const raw = valueAt(file.content, 'routes');
  if (isAbsent(raw)) return undefined;
  if (!Array.isArray(raw) || raw.length === 0) {
    report('routes', 'must be a list of at least one route');
    return [];
  }
  return raw.map((route, index) => draftFromFile(route, `routes[${index}]`, common, report));
}

function plainDraft(
  prefix: string,
  credential: string,
  common: Common,
  report: RouteDraft['report'],
): RouteDraft {
  return {
    prefix,
    credential,
    upstream: undefined,
    ...common,
    clientAuthorization: ROUTE_FIELDS.clientAuthorization.default,
    overrideHeaders: ROUTE_FIELDS.overrideHeaders.default,
    report,
  };
}

function defaultDrafts(credentials: Credentials, common: Common, report: Report): readonly RouteDraft[] {
  const credential = ['token', 'apiKey'].find((name) => credentials.names.includes(name));
  if (credential !== undefined) {
    const reportAt = (_field: Field, problem: string) => report('routes', `the default route ${problem}`);
    return [plainDraft('/', credential, common, reportAt)];
  }
  if (credentials.names.length > 0) {
    report('routes', 'is missing: everything goes with token or apiKey by default, and there is neither');
  } else {
    report(
      'credentials',
      'is empty: set BEARERD_CLIENT_ID and BEARERD_CLIENT_SECRET (a service account), BEARERD_USERNAME and ' +
        'BEARERD_PASSWORD (a user), or BEARERD_API_KEY',
    );
  }
  return [];
}

/** The routes of `BEARERD_ROUTES`, else of the file, else one for everything. */
export function readRoutes(
  reading: Reading,
  values: Values,
  credentials: Credentials,
): readonly RouteDraft[] {
  const common = commonOf(values);
  const inFile = draftsFromFile(reading, common);
  const { variable } = SETTINGS.routes;
  if (variable in reading.environment.variables) {
    return (values.routes ?? []).map(({ prefix, credential }, index) =>
      plainDraft(prefix, credential, common, (_field, problem) =>
        reading.report(variable, `entry ${index + 1}: ${problem}`),
      ),
    );
  }
  if (inFile !== undefined) return inFile;
  return isWhole(reading) ? defaultDrafts(credentials, common, reading.report) : [];
}
