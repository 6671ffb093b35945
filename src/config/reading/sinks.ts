import { resolve } from 'node:path';
import { SINK_FIELDS, type SinkType } from '../declaration/file-fields.ts';
import type { Kind } from '../values/kind.ts';
import { didYouMean, nearest } from '../values/nearest.ts';
import { entry, isAbsent, isMap, readField, reportUnknownKeys, valueAt, type YamlMap } from './maps.ts';
import type { Reading } from './reading.ts';
import { folderOf } from './single-settings.ts';

/** A sink as it was read: what it holds is known once the routes are. */
export type SinkDraft =
  | { readonly at: string; readonly kind: 'haproxy'; readonly path: string; readonly map: string }
  | {
      readonly at: string;
      readonly kind: 'envoySds';
      readonly path: string;
      readonly name: string;
      readonly credential: string;
    }
  | { readonly at: string; readonly kind: 'file'; readonly path: string; readonly credential: string };

const TYPES = Object.keys(SINK_FIELDS) as SinkType[];

export function readSinks(reading: Reading): readonly SinkDraft[] {
  const raw = valueAt(reading.file.content, 'sinks');
  if (isAbsent(raw)) return [];
  if (!Array.isArray(raw)) {
    reading.report('sinks', 'must be a list of maps, each with haproxy, envoySds or file');
    return [];
  }
  return raw.flatMap((item: unknown, index) => readSink(item, `sinks[${index}]`, reading) ?? []);
}

function readSink(raw: unknown, at: string, reading: Reading): SinkDraft | undefined {
  const { report } = reading;
  const map = isMap(raw) ? raw : {};
  const kinds = TYPES.filter((type) => !isAbsent(entry(map, type)));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const hint = didYouMean(Object.keys(map).flatMap((key) => nearest(key, TYPES) ?? [])[0]);
    report(at, `must be a map with one of ${TYPES.join(', ')}${kind === undefined ? hint : ''}`);
    return undefined;
  }
  reportUnknownKeys(map, at, Object.keys(SINK_FIELDS[kind]), report);
  return draftOf(kind, map, at, reading);
}

function draftOf(kind: SinkType, map: YamlMap, at: string, reading: Reading): SinkDraft | undefined {
  const { report } = reading;
  const credential = readField(map, at, 'credential', SINK_FIELDS.file.credential.kind, report) ?? 'token';
  const needed = <T>(key: string, valueKind: Kind<T>): T | undefined => {
    if (isAbsent(entry(map, key))) report(`${at}.${key}`, 'is missing');
    return readField(map, at, key, valueKind, report);
  };
  const absolute = (path: string) => resolve(folderOf(reading), path);
  if (kind === 'haproxy') {
    const path = needed('haproxy', SINK_FIELDS.haproxy.haproxy.kind);
    const name = needed('map', SINK_FIELDS.haproxy.map.kind);
    return path === undefined || name === undefined ? undefined : { at, kind, path, map: name };
  }
  if (kind === 'file') {
    const path = needed('file', SINK_FIELDS.file.file.kind);
    return path === undefined ? undefined : { at, kind, path: absolute(path), credential };
  }
  const path = needed('envoySds', SINK_FIELDS.envoySds.envoySds.kind);
  const name = needed('name', SINK_FIELDS.envoySds.name.kind);
  if (path === undefined || name === undefined) return undefined;
  return { at, kind, path: absolute(path), name, credential };
}
