import { constants } from 'node:crypto';
import tls from 'node:tls';

/** Options of Node that allow faulty HTTP or weak TLS, unless the code sets its own limits. */
const LOOSENING = /(?<![^\s"'])--(?:insecure-http-parser|tls-min-v1\.[01])(?=$|[\s"'=])/g;
const CIPHER_OPTION = '--tls-cipher-list';

/** The entries of a cipher list (OpenSSL's `ciphers`) with broken ciphers, short keys, or no certificate. */
const WEAK = /^(?:ALL|COMPLEMENT.*|LOW|EXP.*|.*(?:NULL|RC4|DES|MD5|ADH|AECDH|ANON).*|.*@SECLEVEL=[01])$/i;

/** What a warning says about each option. */
export const LOOSENING_WORDS = 'has no effect: HTTP is parsed and TLS is spoken as strictly as without it';

/**
 * Such options in NODE_OPTIONS and on the command line. They have no effect on bearerd: each server and client sets
 * `insecureHTTPParser: false`, and each TLS context sets its lowest version and the ciphers.
 */
export function looseningOptions(): readonly string[] {
  const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ').replace(DASHED, dashes);
  const options = given.match(LOOSENING) ?? [];
  return strictCiphers() === undefined ? options : [...options, CIPHER_OPTION];
}

/** `ciphers` for a TLS context: Node's own list if `--tls-cipher-list` allows a weak cipher; else undefined. */
export function strictCiphers(): string | undefined {
  return isWeak(tls.DEFAULT_CIPHERS) ? constants.defaultCoreCipherList : undefined;
}

function isWeak(list: string): boolean {
  return list.split(/[:, ]+/).some((one) => !/^[!-]/.test(one) && WEAK.test(one));
}

/** Node accepts underscores for the dashes in an option's name. */
const DASHED = /--[\w-]+/g;
const dashes = (name: string) => name.replaceAll('_', '-');
