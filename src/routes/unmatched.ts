/** How many routes are named, and how much of each name. */
const MOST_NAMED = 5;
const LONGEST_NAME = 60;

/** The words for a request that no route of a table matches. */
interface Unmatched {
  readonly why: string;
  /** What to do about it. */
  readonly remedy: string;
}

/** What the words need to know of a route. */
interface KnownRoute {
  readonly name: string;
  readonly credentialName: string;
  readonly credential: object | undefined;
  readonly denied: boolean;
}

/** What the words need to know of a table. */
export interface TableFacts<R extends KnownRoute = KnownRoute> {
  readonly own: readonly R[];
  /** The routes of every table. */
  readonly all: readonly R[];
  readonly host: string | undefined;
  /** Where the routes are configured: `BEARERD_ROUTES` or `bearerd.yaml:12`. */
  readonly place: string | undefined;
}

/** Made once for each table, without anything of a request. */
export function unmatched({ own, all, host, place }: TableFacts): Unmatched {
  const where = placeOf({ all, host, place });
  if (own.length === 0) {
    return {
      why: 'each route has a host, and this request names none of them',
      remedy: `Add a route without a host ${where}, or call a host that has routes: ${namesOf(all)}.`,
    };
  }
  const of = host === undefined ? '' : ` of ${host}`;
  return {
    why: host === undefined ? 'no prefix matches' : `no prefix${of} matches`,
    remedy: `Add a route for this path ${where}, or call a path that has one. The routes${of}: ${namesOf(own)}.`,
  };
}

function namesOf(routes: readonly KnownRoute[]): string {
  const open = routes.filter(({ denied }) => !denied);
  const named = open.slice(0, MOST_NAMED).map(({ name }) => shortened(name));
  const more = open.length - named.length;
  if (more > 0) return `${named.join(', ')} and ${more} more`;
  return named.join(', ') || 'none that forwards';
}

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

/** Where to add a route, with an example that matches every other path of the table. */
function placeOf({ all, host, place = 'routes' }: Omit<TableFacts, 'own'>): string {
  const credential = all.find((route) => route.credential !== undefined)?.credentialName ?? 'none';
  const isVariable = /^(?:BEARERD_ROUTES|--routes|\.env)$/.test(place);
  if (isVariable) {
    const variable = place === '.env' ? 'BEARERD_ROUTES in .env' : place;
    return `to ${variable} (${host === undefined ? '' : `//${host}`}/=${credential} takes every other path)`;
  }
  const inHost = host === undefined ? '' : `host: ${host}, `;
  const where = place === 'routes' ? 'to routes' : `to the routes at ${place}`;
  return `${where} ({ ${inHost}prefix: /, credential: ${credential} } takes every other path)`;
}
