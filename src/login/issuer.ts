import type { Clock } from '../base/clock.ts';
import { type Deadline, deadlineIn, untilMs } from '../base/deadline.ts';
import { LoginError } from '../base/login-error.ts';
import { isInsecure, parseTokenUrl, type TokenEndpoint } from '../config/values/urls.ts';
import { answerFailure, metadataFailure } from './answer-failure.ts';
import { withSubject } from './connection-failure.ts';
import { parseJsonObject } from './json-object.ts';
import type { LoginServer, TokenServers } from './login-server.ts';
import { type TimeLimit, timeLimit, wholeAnswer } from './whole-answer.ts';

/** The time limit of a discovery, from the reading of a client certificate to the last byte of an answer. */
const DISCOVERY_TIMEOUT_MS = 10_000;
/** How long metadata is cached. */
const AGE_MS = 3_600_000;

type Metadata = Readonly<Record<string, unknown>>;

interface Question {
  readonly issuer: string;
  /** The client has a certificate, for which an issuer may have another endpoint (RFC 8705 §5). */
  readonly withCertificate: boolean;
}

export interface Discovery {
  /** The token endpoint: from the cache, or from the issuer. */
  find(signal: AbortSignal): Promise<TokenEndpoint>;
  /** The next `find` asks the issuer. */
  forget(): void;
}

/** Finds the token endpoint of an issuer, and caches it. */
export function createDiscovery(question: Question, servers: TokenServers, clock: Clock): Discovery {
  let known: { readonly endpoint: TokenEndpoint; readonly until: Deadline } | undefined;
  return {
    async find(signal) {
      if (known !== undefined && untilMs(known.until, clock) > 0) return known.endpoint;
      const endpoint = await discover(question, servers, clock, signal);
      known = { endpoint, until: deadlineIn(AGE_MS, clock) };
      return endpoint;
    },
    forget() {
      known = undefined;
    },
  };
}

/**
 * Asks at both paths. If neither has metadata, the answer to the second one counts unless it is a 404: a server may answer
 * anything at a path that it doesn't know.
 */
async function discover(
  question: Question,
  servers: TokenServers,
  clock: Clock,
  signal: AbortSignal,
): Promise<TokenEndpoint> {
  const { origin } = new URL(question.issuer);
  const limit = timeLimit(servers.timeoutMs ?? DISCOVERY_TIMEOUT_MS);
  const server = await servers.at(origin, AbortSignal.any([signal, limit.signal]));
  const paths = metadataPaths(question.issuer);
  const failures: LoginError[] = [];
  for (const path of paths) {
    try {
      return tokenEndpointOf(await metadataAt(path, server, limit, clock, signal), question);
    } catch (error) {
      if (!(error instanceof LoginError)) throw error;
      const failure = withSubject(`the issuer ${origin}${path}`, error, {});
      if (endsDiscovery(failure)) throw failure;
      failures.push(failure);
    }
  }
  const notes = paths.map((path) => `status 404 at ${origin}${path}`);
  const nowhere = answerFailure('no-metadata', notes, { status: 404 });
  throw failures.findLast(({ status }) => status !== 404) ?? withSubject(`the issuer ${origin}`, nowhere, {});
}

/** No answer, metadata that is of no use, or an answer that says that the server has enough. */
function endsDiscovery({ status }: LoginError): boolean {
  return status === undefined || status === 429 || status === 503;
}

/** @throws LoginError if there is none */
async function metadataAt(
  path: string,
  server: LoginServer,
  limit: TimeLimit,
  clock: Clock,
  signal: AbortSignal,
): Promise<Metadata> {
  const question = { method: 'GET', path, headers: ['accept', 'application/json'] };
  const asked = { server, question, limit, unreadable: 'no-metadata' } as const;
  const answer = await wholeAnswer(asked, clock, signal);
  const metadata = answer.status === 200 ? parseJsonObject(answer.body) : undefined;
  if (metadata?.issuer === undefined) throw metadataFailure(answer);
  return metadata;
}

/** RFC 8414 §3.1 puts the well-known path between the host and the issuer's path; OpenID Connect Discovery §4 appends it. */
export function metadataPaths(issuer: string): readonly string[] {
  const path = new URL(issuer).pathname.replace(/\/$/, '');
  return [`/.well-known/oauth-authorization-server${path}`, `${path}/.well-known/openid-configuration`];
}

/**
 * Checks an issuer's metadata. Pure.
 *
 * @throws LoginError if it is of another issuer (RFC 8414 §3.3), or has no endpoint to which a secret may be sent
 */
export function tokenEndpointOf(metadata: Metadata, { issuer, withCertificate }: Question): TokenEndpoint {
  if (metadata.issuer !== issuer) throw useless('of another issuer', 'Compare every character of issuer.');
  const aliases = withCertificate ? metadata.mtls_endpoint_aliases : undefined;
  const alias =
    typeof aliases === 'object' && aliases !== null && 'token_endpoint' in aliases
      ? aliases.token_endpoint
      : undefined;
  const url = alias ?? metadata.token_endpoint;
  const parsed = typeof url === 'string' ? parseTokenUrl(url) : undefined;
  if (parsed === undefined || 'problem' in parsed) {
    throw useless('that names no token endpoint with a URL', GIVE_TOKEN_URL);
  }
  // Metadata may lead neither to clear text, nor from a remote issuer to this machine.
  const { origin } = parsed.value;
  if (isInsecure(origin) || (origin.startsWith('http:') && !issuer.startsWith('http:'))) {
    throw useless('that names a token endpoint without https://', GIVE_TOKEN_URL);
  }
  return parsed.value;
}

const GIVE_TOKEN_URL = 'Tell those who run the issuer; or set tokenUrl in place of issuer.';

/** The error for metadata that is of no use. `withSubject` adds its subject. */
function useless(which: string, remedy: string): LoginError {
  return new LoginError('unusable', `gives metadata ${which}`, { remedy });
}
