import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Clock } from '../clock.ts';
import type { SessionGrant } from '../config/config.ts';
import { LoginError } from '../errors.ts';
import { type IssuedToken, readSessionAnswer } from './session-response.ts';

/** A whole login, from the first byte sent to the last one read (docs/tokens.md). */
export const LOGIN_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;

/** One login: gives a token, or rejects with a LoginError. Never retries, never follows a redirect. */
export type Login = (signal: AbortSignal) => Promise<IssuedToken>;

export interface SessionEndpoint {
  readonly origin: string;
  readonly path: string;
  /** Verifies the endpoint's TLS certificate; made by the composition root. */
  readonly dispatcher: Dispatcher;
}

export function createLogin(endpoint: SessionEndpoint, grant: SessionGrant, clock: Clock): Login {
  return async (signal) => {
    const sentMono = clock.monoMs();
    const timeout = AbortSignal.timeout(LOGIN_TIMEOUT_MS);
    try {
      const { statusCode, headers, body } = await endpoint.dispatcher.request({
        origin: endpoint.origin,
        path: endpoint.path,
        method: 'POST',
        ...encodeGrant(grant),
        // A connection of its own: a POST that meets a stale one can't be sent again.
        reset: true,
        headersTimeout: 0,
        bodyTimeout: 0,
        signal: AbortSignal.any([signal, timeout]),
      });
      return readSessionAnswer({
        status: statusCode,
        headers: {
          date: first(headers.date),
          retryAfter: first(headers['retry-after']),
          location: first(headers.location),
        },
        body: statusCode === 200 ? await readLimited(body) : discard(body),
        receivedWallMs: clock.wallMs(),
        elapsedMs: clock.monoMs() - sentMono,
      });
    } catch (error) {
      if (error instanceof LoginError) throw error;
      const reason = timeout.aborted ? `no answer within ${LOGIN_TIMEOUT_MS / 1000} s` : codeOf(error);
      throw new LoginError('unreachable', `the session endpoint can't be reached: ${reason}`, { cause: error });
    }
  };
}

/** Headers and body of the login, exactly as the API documents the two grants. */
export function encodeGrant(grant: SessionGrant): { headers: string[]; body: string } {
  if (grant.kind === 'service-account') {
    const body = JSON.stringify({
      grantType: 'clientCredentials',
      clientId: grant.clientId.expose(),
      clientSecret: grant.clientSecret.expose(),
    });
    return { headers: ['content-type', 'application/json', 'accept', 'application/json'], body };
  }
  const form = new URLSearchParams([
    ['username', grant.username.expose()],
    ['password', grant.password.expose()],
  ]);
  return {
    headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'],
    body: form.toString(),
  };
}

/** The body of a failure says nothing that is used; it may be long, or never end. */
function discard(body: Readable): Uint8Array {
  body.on('error', () => {}).destroy();
  return new Uint8Array();
}

async function readLimited(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) {
      throw new LoginError('unusable', 'the login gave no usable token: the answer is larger than 64 KiB');
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

/** A library's error code is for the operator; its message may hold an address or more, and is left out. */
function codeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown error';
}
