import type { FieldLines } from '../../base/fields.ts';

/**
 * Character sets that don't write each ASCII character as that byte: UTF-7, UTF-16, UTF-32, UCS, EBCDIC (`ibm` and `cp` with
 * its many numbers; those of PC code pages that are in use stay), SCSU and BOCU.
 */
const NOT_ASCII =
  /^(?:x-)?(?:cs)?(?:utf(?![-_]?8)|ucs|unicode|iso[-_]10646|ebcdic|scsu|bocu|(?:ibm|cp)[-_]?(?!437|85\d|86\d|93[26]|949|950|125\d))/;
const CHARSET = /charset[ \t]*=[ \t]*["']?([^"';, \t]*)/g;

/** By header: what a value says of the body that can't be searched. */
const SIGNS = new Map<string, (value: string) => string | undefined>([
  ['content-encoding', (value) => (isIdentity(value) ? undefined : 'a content coding')],
  // A 226 is coded like this, without a `Content-Encoding` (RFC 3229 §10.5.2).
  ['im', (value) => (isIdentity(value) ? undefined : 'an instance manipulation')],
  [
    'content-type',
    (value) =>
      [...value.toLowerCase().matchAll(CHARSET)].some(([, charset = '']) => NOT_ASCII.test(charset))
        ? 'a character set'
        : undefined,
  ],
]);

/** What makes a body one that can't be searched, although the request asked for none such; undefined if nothing does. */
export function whyUnsearchable({ pairs, fields }: FieldLines): string | undefined {
  for (let i = 0; i < fields.length; i++) {
    const why = SIGNS.get(pairs[2 * i]!.toLowerCase())?.(pairs[2 * i + 1]!);
    if (why !== undefined) return why;
  }
  return undefined;
}

function isIdentity(codings: string): boolean {
  return codings.split(',').every((coding) => /^(?:identity)?$/i.test(coding.trim()));
}
