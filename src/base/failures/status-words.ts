/** What a request was sent with. */
export type SentAs = 'token' | 'key' | 'nothing' | "the client's own";

/** What to do if the upstream refuses a new token. */
export const NEW_TOKEN_REMEDY =
  'Check that the login and the API belong to one environment, and that the API takes the token in this header.';

/** What to do about a status of the upstream. `bearerd why` shows it. */
export const STATUS_REMEDIES = {
  '401 token': `The upstream refuses a new token. ${NEW_TOKEN_REMEDY}`,
  '401 token, not repeated':
    'The upstream refuses the token, and the request was not sent again with a newer one: the token came from a login less than 10 s before, no login succeeded, or the body was not kept. If it lasts, "bearerd check --online GET PATH" sends the request with a fresh token: the login and the API may belong to two environments.',
  '401 key':
    'The upstream refuses the key. Check that it is whole, not revoked, and of this environment, and that the API wants it in this header with this scheme: header and scheme of the credential say how it is sent.',
  '401 nothing':
    'The route sends no credential. Give it one (BEARERD_ROUTES), or have the client send its own.',
  "401 the client's own":
    "The client's own credential was sent in place of the configured one, and the upstream refuses it. Leave it out in the client, or set clientAuthorization: replace.",
  '403 nothing': 'The route sends no credential, and this needs one. Give the route one (BEARERD_ROUTES).',
  '403':
    'The upstream accepts the credential and does not allow this call: the account lacks a role. Ask those who run the API for it, or give the route another credential.',
  '404':
    'The upstream knows no such path. "bearerd routes GET /the/path" shows the URL that was asked: check the path, the one of BEARERD_BASE_URL, and a rewrite of the route.',
  '407':
    "A proxy between here and the API asks for a password: check that BEARERD_BASE_URL is the API's own URL, or put the user and the password into HTTPS_PROXY if the proxy is meant.",
  '429':
    'The upstream limits how often it is called. Wait as long as its Retry-After says, and call less often.',
  '502':
    'A gateway in front of the API got no valid answer from it. bearerd works as it should: tell those who run the API.',
  '503':
    'The upstream takes no calls at present. Call again later: its Retry-After, if it sent one, says when.',
  '504': 'A gateway in front of the API got no answer from it in time. Tell those who run the API.',
  '5xx': 'The fault is in the upstream, whose log says more. Its answer was passed on unchanged.',
  unread:
    'The client stopped reading its answer for as long as BEARERD_IDLE_TIMEOUT allows. Find out why it stopped, or raise that limit.',
  left: "The client ended the connection before it had the whole answer. If that was not meant (an event stream ends so), check the client's own timeout.",
  'left unanswered':
    "The client ended the connection before an answer came. If that was not meant, check the client's own timeout: the times above say what it waited for.",
} as const;

/** @returns undefined if the status alone says enough */
export function statusRemedy(status: number, sentAs: SentAs, isRepeated: boolean): string | undefined {
  const place = sentAs === 'token' && !isRepeated ? 'token, not repeated' : sentAs;
  if (status === 401) return STATUS_REMEDIES[`401 ${place}`];
  if (status === 403) return STATUS_REMEDIES[sentAs === 'nothing' ? '403 nothing' : '403'];
  const own: Readonly<Record<string, string | undefined>> = STATUS_REMEDIES;
  return own[status] ?? (status >= 500 ? STATUS_REMEDIES['5xx'] : undefined);
}
