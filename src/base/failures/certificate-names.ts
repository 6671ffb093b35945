/** What a name in a certificate may be made of: the certificate comes from the other side. */
const NAME = /^(?:DNS|IP Address):((?:\*\.)?[\w.:-]{1,253})$/;
const MOST = 4;

/**
 * The names that a certificate is for, if the fault is that it is for others than the one that was asked for.
 *
 * @param error of Node's TLS
 * @returns words that go on after "for another host name"; empty if the error names none
 */
export function otherNames(error: unknown): string {
  const { code, cert } = (error ?? {}) as { code?: unknown; cert?: { subjectaltname?: unknown } };
  const listed = cert?.subjectaltname;
  if (code !== 'ERR_TLS_CERT_ALTNAME_INVALID' || typeof listed !== 'string') return '';
  const names = listed.split(', ').flatMap((entry) => NAME.exec(entry)?.[1] ?? []);
  if (names.length === 0) return '';
  const more = names.length > MOST ? ` and ${names.length - MOST} more` : '';
  return `, it names ${names.slice(0, MOST).join(', ')}${more}`;
}
