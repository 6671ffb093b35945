import { resolve } from 'node:path';
import { entry, isAbsent, isMap } from '../reading/maps.ts';
import { folderOf, type Reading } from '../reading/reading.ts';
import { listOf, type Placed } from '../shapes/collections.ts';
import { type Declared, object } from '../shapes/object.ts';
import type { Shape } from '../shapes/shape.ts';
import { didYouMean, insteadOf, nearest } from '../values/nearest.ts';
import * as kinds from '../values/vocabulary.ts';
import type { CredentialConfig } from './credentials/credential.ts';
import type { Credentials } from './credentials/credentials.ts';
import type { RouteConfig } from './routes.ts';
import type { SinkConfig } from './sink-config.ts';

const CREDENTIAL = {
  kind: kinds.text,
  default: 'token',
  description: 'name of the credential that it holds',
} as const;

/** The types by their first key, which names the place. */
export const SINK_TYPES = {
  haproxy: object({
    haproxy: {
      kind: kinds.socketPath,
      required: true,
      description: "unix:PATH of HAProxy's Runtime API, which is told the credentials that it may send",
    },
    map: {
      kind: kinds.text,
      required: true,
      description: 'the map that they are put into: the path that the HAProxy configuration names',
    },
  }),
  envoySds: object({
    envoySds: {
      kind: kinds.sdsFile,
      required: true,
      description:
        'a .json or .yaml file that Envoy reads as a generic secret: the whole value of the header',
    },
    name: { kind: kinds.text, required: true, description: 'the name of the secret' },
    credential: CREDENTIAL,
  }),
  file: object({
    file: {
      kind: kinds.text,
      required: true,
      description: 'a file that holds the token alone, while there is one',
    },
    credential: CREDENTIAL,
  }),
};

type Types = typeof SINK_TYPES;
const TYPES = Object.keys(SINK_TYPES) as (keyof Types)[];
type DeclaredSink = {
  readonly [K in keyof Types]: { readonly kind: K } & Declared<Types[K]['fields']>;
}[keyof Types];
export type DeclaredSinks = readonly Placed<DeclaredSink>[];

const SINK: Shape<DeclaredSink> = {
  get schema() {
    return { oneOf: TYPES.map((type) => ({ title: type, ...SINK_TYPES[type].schema })) };
  },
  read(raw, at) {
    const map = isMap(raw) ? raw : {};
    const [kind, second] = TYPES.filter((type) => !isAbsent(entry(map, type)));
    if (kind === undefined || second !== undefined) {
      const hint = didYouMean(Object.keys(map).flatMap((key) => nearest(key, TYPES) ?? [])[0]);
      return at.report(`must be a map with one of ${TYPES.join(', ')}${kind === undefined ? hint : ''}`);
    }
    const declared = SINK_TYPES[kind].read(map, at, {});
    // The shape of this kind has read it.
    return declared && ({ kind, ...declared } as DeclaredSink);
  },
  show: (sink) => (SINK_TYPES[sink.kind] as Shape<unknown>).show(sink),
};

export const SINKS = listOf(SINK, 'must be a list of maps, each with haproxy, envoySds or file');

function pathOf(sink: DeclaredSink, reading: Reading): string | undefined {
  if (sink.kind === 'haproxy') return sink.haproxy;
  const path = sink.kind === 'file' ? sink.file : sink.envoySds;
  return path && resolve(folderOf(reading), path);
}

/** A sink needs a credential that exists, and a place of its own: it overwrites what is there. */
export function checkSinks(sinks: DeclaredSinks, { names }: Credentials, reading: Reading): void {
  const taken = new Set<string>();
  for (const { at, value: sink } of sinks) {
    const path = pathOf(sink, reading) ?? '';
    const place = at.below(sink.kind);
    if (taken.has(path)) place.report('is the place of another sink');
    if (path !== '') taken.add(path);
    if (reading.filesRead.has(path) || path === reading.file.path) {
      place.report('names a file of the configuration itself');
    }
    if (sink.kind === 'haproxy' || names.includes(sink.credential)) continue;
    const { credential } = sink;
    const problem = `names the credential ${credential}, which does not exist ${insteadOf(credential, names)}`;
    at.below('credential').report(problem);
  }
}

/** Called if there is no fault. */
export function sinksInForce(
  sinks: DeclaredSinks,
  reading: Reading,
  credentials: ReadonlyMap<string, CredentialConfig>,
  routes: readonly RouteConfig[],
): readonly SinkConfig[] {
  return sinks.flatMap(({ value: sink }): SinkConfig[] => {
    const path = pathOf(sink, reading);
    if (path === undefined) return [];
    const { kind } = sink;
    if (kind === 'file') return [{ kind, path, credential: sink.credential }];
    if (kind === 'envoySds') return [{ kind, path, name: sink.name ?? '', credential: sink.credential }];
    return [{ kind, path, map: sink.map ?? '', credentials: sentInHeaders(credentials, routes) }];
  });
}

/** A proxy in front can only set a header, and neither keep the client's own nor scrub the answer. */
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
    return credential !== undefined && credential.queryOrCookie === undefined;
  });
}
