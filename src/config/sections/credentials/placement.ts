import type { Fields } from '../../shapes/field.ts';
import { type Declared, type Entry, object, type Rules } from '../../shapes/object.ts';
import { cookieNameProblem, parseHeaderName } from '../../values/header-values.ts';
import * as kinds from '../../values/vocabulary.ts';

/** Where a credential may go, and where in a request it stands. */
export const PLACEMENT = {
  origins: {
    kind: kinds.origins,
    description: 'origins that it may be sent to; the origin of the base URL unless given',
  },
  header: {
    kind: kinds.headerName,
    default: 'Authorization',
    onlyWith: { in: ['header'] },
    description: 'the header that it is sent in',
  },
  scheme: {
    kind: kinds.scheme,
    onlyWith: { in: ['header'] },
    description:
      'the word before it, empty for none; Bearer in Authorization, none in another header, unless given',
  },
  in: {
    kind: kinds.choice(['header', 'query', 'cookie']),
    default: 'header',
    description: 'where in a request it is sent: in a header, as a parameter of the query, or as a cookie',
  },
  name: {
    kind: kinds.text,
    neededWith: { in: ['query', 'cookie'] },
    description: 'the name of the parameter or the cookie, or of the header',
  },
} as const satisfies Fields;

/** A type may have only some of the fields. */
export type DeclaredPlacement = Partial<Declared<typeof PLACEMENT>>;

/** A place in a request other than a header. */
export interface QueryOrCookie {
  readonly in: 'query' | 'cookie';
  readonly name: string;
}

/** The placement in force. */
export interface Placement {
  readonly origins: readonly string[];
  /** As it is sent. */
  readonly header: string;
  /** Empty for the bare value. */
  readonly scheme: string;
  /** Present if the credential is not sent in a header. */
  readonly queryOrCookie?: QueryOrCookie;
}

/** A credential in force: its placement, and what the function `…InForce` of its type makes. */
export type InForce<F extends (...declared: never[]) => unknown> = { readonly name: string } & Placement &
  Readonly<NonNullable<ReturnType<F>>>;

/** A type of credential: its own fields, and those of the placement. */
export function credential<const F extends Fields>(own: F, { check, schema }: Rules<F> = {}) {
  return object(
    { ...own, ...PLACEMENT },
    {
      ...(schema && { schema }),
      check: (declared, entry) => {
        check?.(declared as Declared<F>, entry);
        checkName(declared as unknown as DeclaredPlacement, entry);
      },
    },
  );
}

/** With `in: header`, `name` means the same as `header`. */
function checkName({ in: where, name }: DeclaredPlacement, { has, report }: Entry): void {
  if (name === undefined || where === 'query') return;
  const parsed = parseHeaderName(name);
  const problem =
    where === 'cookie' ? cookieNameProblem(name) : 'problem' in parsed ? parsed.problem : undefined;
  if (where === 'header' && has('header')) report('name', 'says the same as header; keep one of the two');
  else if (problem !== undefined) report('name', problem);
}

/** @param origin where it may go if it names no origins */
export function placementOf(
  { origins = [], scheme, in: where, name, header: named = PLACEMENT.header.default }: DeclaredPlacement,
  origin: string | undefined,
): Placement {
  const to = { origins: origins.length > 0 || origin === undefined ? origins : [origin] };
  if (where === 'query' || where === 'cookie') {
    const queryOrCookie = { in: where, name: name ?? '' };
    return { ...to, header: PLACEMENT.header.default, scheme: '', queryOrCookie };
  }
  const header = name ?? named;
  // Authorization needs a scheme (RFC 9110 §11.6.2); other headers hold the bare key.
  const usual = header.toLowerCase() === 'authorization' ? 'Bearer' : '';
  return { ...to, header, scheme: scheme ?? usual };
}
