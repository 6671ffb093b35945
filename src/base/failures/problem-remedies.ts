import type { ProblemCode } from '../problem.ts';

/**
 * What to do about an answer of bearerd's own, if nothing more exact is known of its cause.
 * `bearerd why`, `routes` and `check --online` show it.
 */
export const PROBLEM_REMEDIES: Readonly<Record<ProblemCode, string>> = {
  'bad-path':
    'Send the path in its plain form: no dot segments, backslashes or escapes of them, no // (as from a base URL that ends with /), and in the letter case of the route. "bearerd routes GET /the/path" explains a path.',
  'bad-request':
    'Repair what sends the request: its head must be valid HTTP/1.1, with one Host. A client that speaks TLS to a plain port gets this answer, too: give it an http:// URL.',
  'headers-too-large': 'Send smaller headers, mostly cookies, or raise BEARERD_MAX_HEADER_SIZE.',
  'request-timeout':
    'The client stopped in the middle of its request: look at where its data comes from, or raise BEARERD_IDLE_TIMEOUT for slow uploads.',
  'expectation-failed': 'Leave the Expect header out.',
  'not-implemented': 'Send the body as it is, with Content-Encoding where it is compressed.',
  'client-authorization':
    'Leave the credential out in the client, or set clientAuthorization: replace for the route.',
  'host-refused':
    'Call it by localhost or by the address that it listens on, or add the name to BEARERD_ALLOWED_HOSTS. A client that has bearerd as HTTP_PROXY needs it as base URL in its place.',
  'origin-refused':
    'Add the origin to BEARERD_ALLOWED_ORIGINS if you trust every page of it. A program other than a browser sends no Origin.',
  'caller-key-required':
    'Give the client the caller key, and let it send the key as X-Bearerd-Key or as Authorization: Bearer.',
  'route-denied':
    'The configuration closes this path, or closes it to this caller; the session path is always closed. "bearerd routes" shows what is open.',
  'no-route':
    'Add a route for it: to the routes of the configuration file, or as PREFIX=CREDENTIAL to BEARERD_ROUTES (/=token).',
  'method-refused':
    "Use a method that Allow names, or add this one to the route's methods. To a CONNECT: set bearerd as the client's base URL, not as its HTTPS_PROXY.",
  'token-unavailable':
    'The login had not ended when BEARERD_TOKEN_WAIT was over. "bearerd why" and /status say what is known of it, and "bearerd check --online" tries it.',
  'login-refused': 'Check the account and its secret: "bearerd check --online" tries them.',
  'upstream-unreachable': 'Check BEARERD_BASE_URL and the network: "bearerd check --online" tries each step.',
  'upstream-invalid':
    "Check that the URL is the API's own: the server there does not answer with valid HTTP.",
  'upstream-timeout': "Look at the upstream's load, or raise BEARERD_RESPONSE_TIMEOUT for slow calls.",
  'loop-detected':
    "BEARERD_BASE_URL, or the upstream of the route, leads back to bearerd: give the API's own URL.",
  'rate-limited':
    'Call again when Retry-After says, and less often; or raise the limit of the route or of the caller.',
  overloaded:
    'Send fewer requests at once, or raise BEARERD_MAX_CONNECTIONS (open connections) or BEARERD_MAX_WAITING (requests that wait for a token).',
  draining:
    'bearerd was stopping: call again. A load balancer should send it requests only while /readyz answers 200.',
};
