import type { IncomingMessage, ServerResponse } from 'node:http';
import { delayMs, type LoginMode } from './behaviour.ts';
import { answerFault, type Fault, isFault } from './faults.ts';
import {
  ApiError,
  badRequest,
  decodeUtf8,
  isObject,
  mediaType,
  parseJson,
  readBody,
  sendJson,
  wait,
} from './http.ts';
import type { IssuedToken } from './issued-tokens.ts';
import type { MockOptions } from './options.ts';
import type { MockState } from './state.ts';

export const SESSION_PATH = '/api/identity/v1/session';

/** The modes in which a login is checked. */
type IssuingMode = Exclude<LoginMode, Fault>;

/** A well-formed login request, not checked yet. */
interface Grant {
  readonly kind: 'service-account' | 'user';
  readonly name: string;
  readonly secret: string;
}

/** The session endpoint of the API. */
export async function answerSession(
  mock: MockState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  mock.stats.loginAttempts += 1;
  const { login: mode, loginDelayMs, retryAfter } = mock.behaviour;
  if (!(await wait(response, delayMs(mode, loginDelayMs)))) return;
  if (isFault(mode)) return answerFault(mode, { response, retryAfter: String(retryAfter) });
  if (request.method !== 'POST') {
    throw new ApiError(405, 'method_not_allowed', 'the session endpoint takes POST only', { allow: 'POST' });
  }
  const grant = readGrant(mediaType(request), await readBody(request));
  if (!isRight(grant, mock.options)) {
    const challenge = { 'www-authenticate': 'Bearer' };
    throw new ApiError(401, 'invalid_credentials', 'no such account, or a wrong secret', challenge);
  }
  sendJson(response, 200, login(mock, grant, mode));
}

function readGrant(type: string, body: Buffer): Grant {
  if (type === 'application/json') return readServiceAccount(parseJson(decodeUtf8(body)));
  if (type === 'application/x-www-form-urlencoded') return readUser(new URLSearchParams(decodeUtf8(body)));
  throw badRequest('the content type must be application/json or application/x-www-form-urlencoded');
}

function readServiceAccount(body: unknown): Grant {
  if (!isObject(body)) throw badRequest('the body must be a JSON object');
  const { grantType, clientId, clientSecret, ...others } = body;
  if (grantType !== 'clientCredentials') throw badRequest('grantType must be "clientCredentials"');
  if (typeof clientId !== 'string') throw badRequest('clientId must be a string');
  if (typeof clientSecret !== 'string') throw badRequest('clientSecret must be a string');
  refuseOthers(Object.keys(others));
  return { kind: 'service-account', name: clientId, secret: clientSecret };
}

function readUser(form: URLSearchParams): Grant {
  const name = onlyValue(form, 'username');
  const secret = onlyValue(form, 'password');
  refuseOthers([...form.keys()].filter((key) => key !== 'username' && key !== 'password'));
  return { kind: 'user', name, secret };
}

function onlyValue(form: URLSearchParams, name: string): string {
  const [value, ...more] = form.getAll(name);
  if (value === undefined || more.length > 0) throw badRequest(`${name} must be given once`);
  return value;
}

function refuseOthers(names: readonly string[]): void {
  if (names.length > 0) throw badRequest(`unknown fields: ${names.join(', ')}`);
}

function isRight(grant: Grant, options: MockOptions): boolean {
  const [name, secret] =
    grant.kind === 'user' ? [options.username, options.password] : [options.clientId, options.clientSecret];
  return grant.name === name && grant.secret === secret;
}

function login(mock: MockState, grant: Grant, mode: IssuingMode): Record<string, string> {
  if (mode === 'no-token') return {};
  mock.stats.logins += 1;
  const { token, expiresMs } = tokenFor(mock, grant.name, mode);
  // `expires_at` is a guess: for a user the API documents the field of the token, and not that of the expiry.
  const [tokenField, expiryField] =
    grant.kind === 'user' ? ['access_token', 'expires_at'] : ['accessToken', 'expiresAt'];
  const body = { [tokenField]: token };
  return mode === 'no-expiry' ? body : { ...body, [expiryField]: expiryText(expiresMs) };
}

function tokenFor({ tokens, behaviour }: MockState, subject: string, mode: IssuingMode): IssuedToken {
  if (mode === 'expired-token') return tokens.issue(subject, -60_000);
  const repeated = mode === 'same-token' ? tokens.latest(subject) : undefined;
  return repeated ?? tokens.issue(subject, behaviour.tokenLifetimeMs);
}

/** `YYYY-MM-DDTHH:MM:SS.ffffff`, in UTC without a zone. */
function expiryText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}000`;
}
