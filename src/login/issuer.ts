import type { Clock } from '../base/clock.ts';
import { type Deadline, deadlineIn, untilMs } from '../base/deadline.ts';
import { LoginError } from '../base/login-error.ts';
import { isInsecure, parseTokenUrl, type TokenEndpoint } from '../config/values/urls.ts';
import { connectionError, withSubject } from './connection-failure.ts';
import { parseJsonObject } from './json-object.ts';
import { limitedBody } from './login-request.ts';
import { answerOf, type LoginServer, type Steps, type TokenServers } from './login-server.ts';

/** The time limit of a discovery, from the reading of a client certificate to the last byte of an answer. */
const DISCOVERY_TIMEOUT_MS = 10_000;
/** How long metadata is cached. */
const AGE_MS = 3_600_000;

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
      const endpoint = await discover(question, servers, signal);
      known = { endpoint, until: deadlineIn(AGE_MS, clock) };
      return endpoint;
    },
    forget() {
      known = undefined;
    },
  };
}

async function discover(
  question: Question,
  servers: TokenServers,
  signal: AbortSignal,
): Promise<TokenEndpoint> {
  const { origin } = new URL(question.issuer);
  const limitMs = servers.timeoutMs ?? DISCOVERY_TIMEOUT_MS;
  const timeout = AbortSignal.timeout(limitMs);
  const limit = AbortSignal.any([signal, timeout]);
  const server = await servers.at(origin, limit);
  for (const path of metadataPaths(question.issuer)) {
    const steps = { connected: false, answered: false };
    const body = await ask(server, path, steps, limit).catch((cause: unknown) => {
      const progress = { ...steps, late: timeout.aborted, limitMs };
      throw withSubject(`the issuer ${origin}${path}`, connectionError(cause, origin, progress), {});
    });
    const metadata = body === undefined ? undefined : parseJsonObject(body);
    if (metadata?.issuer !== undefined) return tokenEndpointOf(metadata, question);
  }
  throw new LoginError(
    'server-error',
    'the issuer gives no metadata, neither by RFC 8414 nor by OpenID discovery',
  );
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
export function tokenEndpointOf(
  metadata: Readonly<Record<string, unknown>>,
  { issuer, withCertificate }: Question,
): TokenEndpoint {
  if (metadata.issuer !== issuer) {
    throw new LoginError(
      'unusable',
      "the issuer's metadata is of another issuer: compare every character of issuer",
    );
  }
  const aliases = withCertificate ? metadata.mtls_endpoint_aliases : undefined;
  const alias =
    typeof aliases === 'object' && aliases !== null && 'token_endpoint' in aliases
      ? aliases.token_endpoint
      : undefined;
  const url = alias ?? metadata.token_endpoint;
  const parsed = typeof url === 'string' ? parseTokenUrl(url) : undefined;
  if (parsed === undefined || 'problem' in parsed) {
    throw new LoginError('unusable', "the issuer's metadata names no token endpoint that is a URL");
  }
  // Metadata may lead neither to clear text, nor from a remote issuer to this machine.
  const { origin } = parsed.value;
  if (isInsecure(origin) || (origin.startsWith('http:') && !issuer.startsWith('http:'))) {
    throw new LoginError('unusable', "the issuer's metadata names a token endpoint that is not https://");
  }
  return parsed.value;
}

/** The body of a 200; undefined for any other answer, and if it is larger than 64 KiB. Follows no redirect. */
async function ask(
  server: LoginServer,
  path: string,
  steps: Steps,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  const question = { method: 'GET', path, headers: ['accept', 'application/json'] };
  const answer = await answerOf(server, question, steps, signal);
  if (answer.statusCode === 200) return limitedBody(answer);
  answer.on('error', () => {}).destroy();
  return undefined;
}
