/**
 * Small models of how servers read a path. Each gives the path that the server would use, or undefined if it would refuse
 * the request. They share no code with `src/routes`, so that a mistake there does not appear here, too.
 */
export type Model = (path: string) => string | undefined;

/** Bytes that are not UTF-8 become U+FFFD. */
function decodeOnce(text: string): string {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const hex = /^%([0-9a-f]{2})/i.exec(text.slice(i, i + 3))?.[1];
    if (hex === undefined) bytes.push(...Buffer.from(text[i]!, 'utf8'));
    else bytes.push(Number.parseInt(hex, 16));
    if (hex !== undefined) i += 2;
  }
  return Buffer.from(bytes).toString('utf8');
}

const mergeSlashes = (path: string) => path.replace(/\/+/g, '/');

/** Removes dot segments (RFC 3986 §5.2.4). */
function resolveDots(path: string): string {
  const out: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [i, segment] of segments.entries()) {
    const isDot = segment === '.' || segment === '..';
    if (segment === '..') out.pop();
    if (!isDot) out.push(segment);
    else if (i === segments.length - 1) out.push('');
  }
  return `/${out.join('/')}`;
}

/** A JavaScript server that appends the path to its own origin, parses that as a URL, and decodes. */
const whatwg: Model = (path) => {
  const url = URL.parse(`http://upstream${path}`);
  return url === null ? undefined : decodeOnce(url.pathname);
};

/** The same, but it resolves the path against a base URL, so that `//` begins a host. */
const whatwgReference: Model = (path) => {
  const url = URL.parse(path, 'http://upstream/');
  return url === null ? undefined : decodeOnce(url.pathname);
};

/** Tomcat and similar servers: remove parameters, decode, merge slashes, resolve dots. */
const servlet: Model = (path) => {
  const bare = path
    .split('/')
    .map((segment) => segment.split(';')[0]!)
    .join('/');
  return resolveDots(mergeSlashes(decodeOnce(bare)));
};

/** The same in another order, so that decoded parameters are removed, too. */
const lateServlet: Model = (path) => {
  const bare = decodeOnce(path)
    .split('/')
    .map((segment) => segment.split(';')[0]!)
    .join('/');
  return resolveDots(mergeSlashes(bare));
};

/** nginx: decode, merge slashes, resolve dots. */
const nginx: Model = (path) => resolveDots(mergeSlashes(decodeOnce(path)));

/** A gateway that decodes, in front of a server that decodes again. */
const twoHops: Model = (path) =>
  resolveDots(mergeSlashes(decodeOnce(resolveDots(mergeSlashes(decodeOnce(path))))));

/**
 * IIS on Windows: decodes twice, reads backslashes as slashes, ignores letter case and dots and blanks at the end of
 * names.
 */
const iis: Model = (path) => {
  const decoded = decodeOnce(decodeOnce(path).replaceAll('\\', '/')).replaceAll('\\', '/').normalize('NFKC');
  const names = mergeSlashes(resolveDots(decoded)).split('/');
  const trimmed = names.map((name) => name.replace(/[. ]+$/, '')).join('/');
  return mergeSlashes(trimmed.split(/[?#]/)[0]!).toLowerCase() || '/';
};

/** Uses the path unchanged. */
const verbatim: Model = (path) => path;

export const MODELS: Readonly<Record<string, Model>> = {
  verbatim,
  whatwg,
  whatwgReference,
  servlet,
  lateServlet,
  nginx,
  twoHops,
  iis,
};
