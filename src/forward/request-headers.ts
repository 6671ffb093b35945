import type { AccessToken } from '../credentials/access-token.ts';
import type { Forwardable } from './forwardable.ts';
import { addNamed, REQUEST_DROPS } from './hop-by-hop.ts';

/** What is put into a request in place of what was struck out of it. */
export interface Injection {
  /** The credential's header as sent, and its value; absent on a `none` route. */
  readonly credential: { readonly header: string; readonly value: string } | undefined;
  /** The client's own credential passes (`clientAuthorization: keep`). */
  readonly keepClientCredential: boolean;
  /** The header that a credential of this route stands in, in lower case. */
  readonly credentialHeader: string;
  readonly dropCookies: boolean;
  /** The request's ID, and the header in lower case that names it; undefined where none does. */
  readonly id: { readonly header: string; readonly value: string } | undefined;
  /** `1.1 bearerd (...)`. */
  readonly via: string;
}

/** The headers of a request for the upstream. @param token what a token credential has to send at present */
export function headersUpstream(
  { request, route, keepsClientCredential, dropCookies, event }: Forwardable,
  token: AccessToken | undefined,
  via: string,
): string[] {
  const credential = keepsClientCredential ? undefined : route.credential;
  const value = credential?.kind === 'api-key' ? credential.headerValue : token?.headerValue;
  return requestHeaders(request.rawHeaders, {
    credential:
      credential === undefined || value === undefined
        ? undefined
        : { header: credential.header, value: value.expose() },
    keepClientCredential: keepsClientCredential,
    credentialHeader: route.credentialHeader,
    dropCookies,
    id:
      event.requestIdHeader === undefined
        ? undefined
        : { header: event.requestIdHeader, value: event.requestId },
    via,
  });
}

/**
 * Strip, then inject: names and values as flat pairs, in the client's order and bytes (each character a byte).
 * All that the client's `Connection` names goes before ours comes, so that it can't strike out our credential.
 *
 * @param raw `request.rawHeaders`
 */
export function requestHeaders(raw: readonly string[], injection: Injection): string[] {
  const named = namedByConnection(raw);
  const { credentialHeader, keepClientCredential, dropCookies, credential, id } = injection;
  const result: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    if (name === 'authorization' || isCredentialHeader(name, credentialHeader)) {
      if (!keepClientCredential) continue;
    } else if (
      REQUEST_DROPS.has(name) ||
      named?.has(name) ||
      (dropCookies && name === 'cookie') ||
      name === id?.header
    ) {
      continue;
    }
    result.push(raw[i]!, raw[i + 1]!);
  }
  if (credential !== undefined) result.push(credential.header, credential.value);
  if (id !== undefined) result.push(id.header, id.value);
  result.push('via', injection.via);
  return result;
}

function namedByConnection(raw: readonly string[]): Set<string> | undefined {
  let named: Set<string> | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]!.length === 10 && raw[i]!.toLowerCase() === 'connection') named = addNamed(raw[i + 1]!, named);
  }
  return named;
}

/**
 * What the client sends of its own as a credential: `Authorization`, or the header that this route's stands in. One
 * that is empty, or that `Connection` names as of this hop only, is not usable upstream.
 */
export function clientCredentials(
  raw: readonly string[],
  credentialHeader: string,
): { readonly any: boolean; readonly usable: boolean; readonly repeated: boolean } {
  const named = namedByConnection(raw);
  let usable = false;
  let authorizations = 0;
  let others = 0;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    if (name === 'authorization') authorizations++;
    else if (isCredentialHeader(name, credentialHeader)) others++;
    else continue;
    if (raw[i + 1]!.trim() !== '' && named?.has(name) !== true) usable = true;
  }
  return { any: authorizations + others > 0, usable, repeated: authorizations > 1 || others > 1 };
}

/**
 * True for the header that our credential stands in. CGI and WSGI read `X_Api_Key` as `X-Api-Key`, so that
 * spelling is struck out, too.
 */
function isCredentialHeader(name: string, credentialHeader: string): boolean {
  if (name === credentialHeader) return true;
  return name.includes('_') && name.replaceAll('_', '-') === credentialHeader;
}
