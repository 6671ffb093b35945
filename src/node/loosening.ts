import { constants } from 'node:crypto';
import tls from 'node:tls';

/** Options that let faulty HTTP or weak TLS pass where nothing else is said. */
const LOOSENING = /(?<![^\s"'])--(?:insecure-http-parser|tls-min-v1\.[01])(?=$|[\s"'=])/g;
const CIPHER_OPTION = '--tls-cipher-list';

/** What of a list of ciphers (OpenSSL's `ciphers`) says to a broken one, to a key that is too short, or to no certificate at all. */
const WEAK = /^(?:ALL|COMPLEMENT.*|LOW|EXP.*|.*(?:NULL|RC4|DES|MD5|ADH|AECDH|ANON).*|.*@SECLEVEL=[01])$/i;

/** What to say of each. */
export const LOOSENING_WORDS = 'has no effect: HTTP is parsed and TLS is spoken as strictly as without it';

/**
 * Those of this process, by name, from NODE_OPTIONS and the command line. None loosens what is ours: each server and client
 * says `insecureHTTPParser: false`, and each TLS context says its lowest version and `strictCiphers`.
 */
export function looseningOptions(): readonly string[] {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').replace(DASHED, dashes);
  const options = given.match(LOOSENING) ?? [];
  return strictCiphers() === undefined ? options : [...options, CIPHER_OPTION];
}

/** What to say for `ciphers` of a TLS context: Node's own list where `--tls-cipher-list` holds a weak one; else undefined. */
export function strictCiphers(): string | undefined {
  return isWeak(tls.DEFAULT_CIPHERS) ? constants.defaultCoreCipherList : undefined;
}

function isWeak(list: string): boolean {
  return list.split(/[:, ]+/).some((one) => !/^[!-]/.test(one) && WEAK.test(one));
}

/** Node takes an underscore for a dash in the name of an option. */
const DASHED = /--[\w-]+/g;
const dashes = (name: string) => name.replaceAll('_', '-');
