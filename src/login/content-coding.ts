import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** Servers use one coding. Several are legal, and decoding each takes time. */
const MOST_CODINGS = 3;

/**
 * Decodes the content codings of a body, in reverse order (RFC 9110 §8.4). A login asks for none, but some gateways code
 * every answer. No step gives more than `maxBytes`: decoding stops when the result gets too large.
 *
 * @throws RangeError with the code `ERR_BUFFER_TOO_LARGE` past `maxBytes`; another error if decoding fails
 */
export function decodeContent(coded: Uint8Array, codings: string | undefined, maxBytes: number): Uint8Array {
  const names = (codings ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  if (names.length > MOST_CODINGS) throw new Error('too many content codings');
  // A proxy may remove the body and leave its `Content-Encoding`.
  if (coded.byteLength === 0) return coded;
  return names.reduceRight((bytes, name) => decode(bytes, name, { maxOutputLength: maxBytes }), coded);
}

function decode(bytes: Uint8Array, coding: string, limit: { maxOutputLength: number }): Uint8Array {
  switch (coding) {
    case 'gzip':
    case 'x-gzip': // RFC 9110 §8.4.1.3
      return gunzipSync(bytes, limit);
    case 'deflate':
      return hasZlibHeader(bytes) ? inflateSync(bytes, limit) : inflateRawSync(bytes, limit);
    case 'br':
      return brotliDecompressSync(bytes, limit);
    default:
      throw new Error('an unknown content coding');
  }
}

/** `deflate` is the zlib format (RFC 9110 §8.4.1.2), but some servers send bare data. RFC 1950 §2.2 tells them apart. */
function hasZlibHeader([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
}
