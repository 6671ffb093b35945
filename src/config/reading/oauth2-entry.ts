import type { Secret } from '../../base/secret.ts';
import type { Kind } from '../values/kind.ts';
import { secretFromFile } from './given-secret.ts';
import { loginFileAt, readClientCertificate } from './login-files.ts';
import { below, entry, isAbsent, readField, readMap, type YamlMap } from './maps.ts';
import type { Reading } from './reading.ts';

/** One entry, and how its values are read. */
export class OAuth2Entry {
  readonly #map: YamlMap;
  readonly #path: string;
  readonly #reading: Reading;

  constructor(map: YamlMap, path: string, reading: Reading) {
    this.#map = map;
    this.#path = path;
    this.#reading = reading;
  }

  has(key: string): boolean {
    return !isAbsent(entry(this.#map, key));
  }

  report(key: string, problem: string): void {
    this.#reading.report(below(this.#path, key), problem);
  }

  need(key: string, why = ''): void {
    if (!this.has(key)) this.report(key, `is missing${why}`);
  }

  read<T>(key: string, { kind }: { readonly kind: Kind<T> }): T | undefined {
    return readField(this.#map, this.#path, key, kind, this.#reading.report);
  }

  secret(key: string): Secret | undefined {
    return secretFromFile(entry(this.#map, key), below(this.#path, key), 'body', this.#reading)?.secret;
  }

  file(key: string) {
    return loginFileAt(this.#map, this.#path, key, this.#reading);
  }

  /** A map of plain values; undefined where there is none, or a fault. */
  map(key: string): YamlMap | undefined {
    if (!this.has(key)) return undefined;
    return readMap(entry(this.#map, key), below(this.#path, key), this.#reading.report);
  }

  certificate() {
    return readClientCertificate(this.#map, this.#path, this.#reading);
  }
}
