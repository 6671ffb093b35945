import type { LoginFailure } from '../login-error.ts';
import type { FailureWords } from './words.ts';

type AnswerWords = Pick<FailureWords, 'what' | 'remedy'> & { readonly login: LoginFailure };

const SERVER_FAULT = 'The fault is in the server, whose log says more. bearerd tries again.';

/** Why an answer was not a login, or an issuer's no metadata. docs/answers.md shows this table. */
export const ANSWER_FAILURES = {
  'bad-request': {
    login: 'refused',
    what: 'refuses the credentials',
    remedy: 'To a 400: check the kind of account (service account or user), its ID and its secret.',
  },
  unauthorized: {
    login: 'refused',
    what: 'refuses the credentials',
    remedy: 'Check the ID and the secret, and that they belong to the environment of this URL.',
  },
  forbidden: {
    login: 'refused',
    what: 'refuses the credentials',
    remedy:
      'To a 403: the account may be locked, or may not log in from this network. Ask those who run the API.',
  },
  'oauth-refused': {
    login: 'refused',
    what: 'refuses the login',
    remedy:
      "The error says what to check: invalid_client the client's ID and secret, invalid_scope the scope, invalid_target the audience.",
  },
  'oauth-at-session': {
    login: 'refused',
    what: 'refuses the credentials',
    remedy:
      'Check the ID and the secret. The answer is that of an OAuth 2.0 token endpoint: an account there needs a credential of type: oauth2 with its tokenUrl, which bearerd init --account oauth2 writes.',
  },
  'no-such-place': {
    login: 'server-error',
    what: 'does not exist on this server',
    remedy: 'Check the path of BEARERD_BASE_URL, and BEARERD_SESSION_PATH; with OAuth 2.0, tokenUrl.',
  },
  redirected: {
    login: 'redirected',
    what: 'redirects, which bearerd never follows with credentials',
    remedy: 'Write the URL as the server wants it: https://, the right host and the right path.',
  },
  'rate-limited': {
    login: 'rate-limited',
    what: 'asks to wait',
    remedy: 'Nothing needs to be done unless this lasts: then something logs in too often with this account.',
  },
  'server-error': {
    login: 'server-error',
    what: 'gives no token',
    remedy: SERVER_FAULT,
  },
  'no-token': {
    login: 'unusable',
    what: 'gives no usable token',
    remedy: "Check that the URL is the API's own: a web page or a portal answers like this.",
  },
  'no-lifetime': {
    login: 'unusable',
    what: 'gives no usable token',
    remedy:
      'The server sends tokens whose lifetime is over when they arrive: tell those who run the login server.',
  },
  'token-expired': {
    login: 'unusable',
    what: 'gives no usable token',
    remedy:
      "Compare this machine's clock with the server's. If both are right, tell those who run the login server.",
  },
  'metadata-refused': {
    login: 'refused',
    what: 'refuses to give its metadata',
    remedy:
      'It needs no credential by RFC 8414. Check issuer, and ask those who run the server whether it may be called from this network; tokenUrl in place of issuer needs no metadata.',
  },
  'no-metadata': {
    login: 'server-error',
    what: 'gives no metadata',
    remedy:
      "Check issuer: it is the URL that the provider's own metadata has as issuer. If the provider has no metadata, set tokenUrl in its place.",
  },
  'metadata-failed': { login: 'server-error', what: 'gives no metadata', remedy: SERVER_FAULT },
} as const satisfies Readonly<Record<string, AnswerWords>>;

export type AnswerFailure = keyof typeof ANSWER_FAILURES;
