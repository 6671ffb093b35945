/**
 * Small models of how servers read the path of a request: each gives the path that it would look up, or undefined
 * where it would refuse. They share nothing with `src/routes`, so that both would have to be wrong in the same way.
 */
export type Model = (path: string) => string | undefined;

/** Bytes that are no UTF-8 stay visible, as U+FFFD. */
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

/** RFC 3986 §5.2.4, on segments. */
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

/** A JavaScript server that makes a URL of the path behind its own origin, and decodes. */
const whatwg: Model = (path) => {
  const url = URL.parse(`http://upstream${path}`);
  return url === null ? undefined : decodeOnce(url.pathname);
};

/** The same with the path resolved against a base URL, where `//` begins a host. */
const whatwgReference: Model = (path) => {
  const url = URL.parse(path, 'http://upstream/');
  return url === null ? undefined : decodeOnce(url.pathname);
};

/** Tomcat and its kind: parameters away, decode, merge, resolve. */
const servlet: Model = (path) => {
  const bare = path
    .split('/')
    .map((segment) => segment.split(';')[0]!)
    .join('/');
  return resolveDots(mergeSlashes(decodeOnce(bare)));
};

/** The other order: decoded parameters are parameters, too. */
const lateServlet: Model = (path) => {
  const bare = decodeOnce(path)
    .split('/')
    .map((segment) => segment.split(';')[0]!)
    .join('/');
  return resolveDots(mergeSlashes(bare));
};

/** nginx: decode, merge, resolve. */
const nginx: Model = (path) => resolveDots(mergeSlashes(decodeOnce(path)));

/** A gateway that decodes, and a server behind it that does so again. */
const twoHops: Model = (path) =>
  resolveDots(mergeSlashes(decodeOnce(resolveDots(mergeSlashes(decodeOnce(path))))));

/** IIS on Windows: backslashes are slashes, twice decoded, letter case and ends of names make no difference. */
const iis: Model = (path) => {
  const decoded = decodeOnce(decodeOnce(path).replaceAll('\\', '/')).replaceAll('\\', '/').normalize('NFKC');
  const names = mergeSlashes(resolveDots(decoded)).split('/');
  const trimmed = names.map((name) => name.replace(/[. ]+$/, '')).join('/');
  return mergeSlashes(trimmed.split(/[?#]/)[0]!).toLowerCase() || '/';
};

/** Looks the path up as it came. */
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
