import { resolve } from 'node:path';
import type { RouteConfig, SinkConfig } from '../config.ts';
import type { CredentialConfig } from '../credential-config.ts';
import { entry, isAbsent, isMap, valueAt } from '../reading/maps.ts';
import { folderOf, type Reading } from '../reading/reading.ts';
import { At } from '../shapes/at.ts';
import { listOf, type Placed } from '../shapes/collections.ts';
import type { Field } from '../shapes/field.ts';
import { type Declared, object } from '../shapes/object.ts';
import type { Shape } from '../shapes/shape.ts';
import { didYouMean, nearest } from '../values/nearest.ts';
import * as kinds from '../values/vocabulary.ts';
import type { Credentials } from './credentials/credentials.ts';

const CREDENTIAL = {
  kind: kinds.text,
  default: 'token',
  description: 'name of the credential that it holds',
} as const satisfies Field<string>;

/** Each type by its first key, which is the place. */
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
  readonly [K in keyof Types]: { readonly kind: K; readonly declared: Declared<Types[K]['fields']> };
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
      at.report(`must be a map with one of ${TYPES.join(', ')}${kind === undefined ? hint : ''}`);
      return undefined;
    }
    const declared = SINK_TYPES[kind].read(map, at, {});
    // The one that the key names has read it.
    return declared && ({ kind, declared } as DeclaredSink);
  },
  show: ({ kind, declared }) => (SINK_TYPES[kind] as Shape<unknown>).show(declared),
};

export const SINKS = listOf(SINK, 'must be a list of maps, each with haproxy, envoySds or file');

export function readSinks(reading: Reading): DeclaredSinks {
  return SINKS.read(valueAt(reading.file.content, 'sinks'), new At('sinks', reading), {}) ?? [];
}

function pathOf({ kind, declared }: DeclaredSink, reading: Reading): string | undefined {
  if (kind === 'haproxy') return declared.haproxy;
  const path = kind === 'file' ? declared.file : declared.envoySds;
  return path && resolve(folderOf(reading), path);
}

/** A sink must have something to hold, and a place of its own: what it writes replaces what is there. */
export function checkSinks(sinks: DeclaredSinks, { names }: Credentials, reading: Reading): void {
  const taken = new Set<string>();
  for (const { at, value: sink } of sinks) {
    if (sink === undefined) continue;
    const path = pathOf(sink, reading) ?? '';
    const place = at.below(sink.kind);
    if (taken.has(path)) place.report('is the place of another sink');
    if (path !== '') taken.add(path);
    if (reading.filesRead.has(path) || path === reading.file.path) {
      place.report('names a file of the configuration itself');
    }
    if (sink.kind === 'haproxy' || names.includes(sink.declared.credential)) continue;
    const { credential } = sink.declared;
    const known = names.length === 0 ? 'there are none' : `there are ${names.join(', ')}`;
    const hint = didYouMean(nearest(credential, names));
    at.below('credential').report(
      `names the credential ${credential}, which does not exist (${known})${hint}`,
    );
  }
}

/** Those in force, once there is no fault left. */
export function sinksInForce(
  sinks: DeclaredSinks,
  reading: Reading,
  credentials: ReadonlyMap<string, CredentialConfig>,
  routes: readonly RouteConfig[],
): readonly SinkConfig[] {
  return sinks.flatMap(({ value: sink }): SinkConfig[] => {
    const path = sink && pathOf(sink, reading);
    if (sink === undefined || path === undefined) return [];
    const { kind, declared } = sink;
    if (kind === 'file') return [{ kind, path, credential: declared.credential }];
    if (kind === 'envoySds') {
      const { name = '', credential } = declared;
      return [{ kind, path, name, credential }];
    }
    return [{ kind, path, map: declared.map ?? '', credentials: sentInHeaders(credentials, routes) }];
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
