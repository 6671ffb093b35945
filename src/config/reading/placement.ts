import type { CredentialPlacement } from '../config.ts';
import { type CredentialType, PLACEMENT_FIELDS } from '../declaration/file-fields.ts';
import { cookieNameProblem, parseHeaderName } from '../values/header-values.ts';
import { below, entry, isAbsent, readField, type YamlMap } from './maps.ts';
import type { Reading } from './reading.ts';

type Placement = Omit<CredentialPlacement, 'name'>;

/** What a type can't choose: `Basic` is a scheme of the Authorization header, and always the same one (RFC 7617). */
const FIXED: Partial<Record<CredentialType, readonly (keyof typeof PLACEMENT_FIELDS)[]>> = {
  basic: ['scheme', 'in', 'name'],
};

/** The keys of an entry that say where in a request it stands, as far as its type may choose. */
export function placementKeys(type: CredentialType | undefined): readonly string[] {
  const fixed: readonly string[] = (type && FIXED[type]) ?? [];
  return Object.keys(PLACEMENT_FIELDS).filter((key) => !fixed.includes(key));
}

/** @param origin where it may go unless the entry says so */
export function readPlacement(
  map: YamlMap,
  path: string,
  type: CredentialType | undefined,
  origin: string | undefined,
  reading: Reading,
): Placement {
  const { report } = reading;
  const { origins, header, scheme } = PLACEMENT_FIELDS;
  const at = {
    origins: readField(map, path, 'origins', origins.kind, report) ?? (origin ? [origin] : []),
    header: readField(map, path, 'header', header.kind, report) ?? header.default,
  };
  if (type === 'basic') return { ...at, scheme: 'Basic' };
  const word = readField(map, path, 'scheme', scheme.kind, report);
  const where = readField(map, path, 'in', PLACEMENT_FIELDS.in.kind, report) ?? PLACEMENT_FIELDS.in.default;
  const name = readField(map, path, 'name', PLACEMENT_FIELDS.name.kind, report);
  if (where === 'header') {
    const sentIn = name === undefined ? at.header : namedHeader(map, path, name, at.header, reading);
    return { ...at, header: sentIn, scheme: word ?? usualScheme(sentIn) };
  }
  for (const key of ['header', 'scheme'] as const) {
    if (!isAbsent(entry(map, key)))
      report(below(path, key), `is for a header; it means nothing with in: ${where}`);
  }
  if (isAbsent(entry(map, 'name'))) report(below(path, 'name'), `is missing; in: ${where} needs it`);
  const problem = where === 'cookie' && name !== undefined ? cookieNameProblem(name) : undefined;
  if (problem !== undefined) report(below(path, 'name'), problem);
  return { ...at, header: header.default, scheme: '', elsewhere: { in: where, name: name ?? '' } };
}

/** `Authorization` has a scheme (RFC 9110 §11.6.2); the value of a header of the API's own is the bare key. */
function usualScheme(header: string): string {
  return header.toLowerCase() === 'authorization' ? 'Bearer' : '';
}

/** `name` of a header is `header` by another word. */
function namedHeader(map: YamlMap, path: string, name: string, header: string, { report }: Reading): string {
  const parsed = parseHeaderName(name);
  if (!isAbsent(entry(map, 'header')))
    report(below(path, 'name'), 'says the same as header; keep one of the two');
  else if ('problem' in parsed) report(below(path, 'name'), parsed.problem);
  else return parsed.value;
  return header;
}
