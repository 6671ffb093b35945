import type { Kind } from '../values/kind.ts';
import * as kinds from '../values/vocabulary.ts';
import { LONGEST_TIMER, SETTINGS } from './settings.ts';

interface Field<T> {
  readonly kind: Kind<T>;
  readonly default?: string;
  readonly description: string;
}

/** What every entry of `credentials` may have besides its secrets. */
export const PLACEMENT_FIELDS = {
  origins: {
    kind: kinds.origins,
    description: 'origins that it may be sent to; the origin of the base URL unless given',
  },
  header: {
    kind: kinds.headerName,
    default: 'Authorization',
    description: 'the header that it is sent in',
  },
  scheme: {
    kind: kinds.scheme,
    description:
      'the word before it, empty for none; Bearer in Authorization, none in another header, unless given',
  },
  in: {
    kind: kinds.choice(['header', 'query', 'cookie']),
    default: 'header',
    description: 'where in a request it is sent: in a header, as a parameter of the query, or as a cookie',
  },
  name: {
    kind: kinds.text,
    description: 'the name of the parameter or the cookie, or of the header',
  },
} as const satisfies Record<string, Field<unknown>>;

/** The secrets of each type of credential. */
export const SECRET_FIELDS = {
  session: ['clientId', 'clientSecret', 'username', 'password'],
  apiKey: ['key'],
  basic: ['username', 'password'],
  oauth2: ['clientId', 'clientSecret', 'username', 'password'],
  exec: [],
} as const;

export type CredentialType = keyof typeof SECRET_FIELDS;

export const CREDENTIAL_TYPE = kinds.choice(Object.keys(SECRET_FIELDS) as CredentialType[]);

/** What an `oauth2` credential has besides its secrets and its `parameters`. */
export const OAUTH2_FIELDS = {
  tokenUrl: {
    kind: kinds.tokenUrl,
    description: 'the token endpoint, the whole URL of it',
  },
  issuer: {
    kind: kinds.issuer,
    description: 'in place of tokenUrl: the issuer that tells where its token endpoint is (RFC 8414, OpenID)',
  },
  grant: {
    kind: kinds.choice(['clientCredentials', 'tokenExchange', 'jwtBearer', 'password']),
    default: 'clientCredentials',
    description:
      'for itself, in exchange for the token in subjectToken (RFC 8693), for an assertion (RFC 7523), or for a user name and a password (RFC 6749, section 4.3)',
  },
  subjectTokenType: {
    kind: kinds.text,
    default: 'urn:ietf:params:oauth:token-type:jwt',
    description: 'what kind of token subjectToken is',
  },
  clientAuthentication: {
    kind: kinds.choice(['basic', 'body', 'assertion', 'privateKeyJwt', 'tls', 'none']),
    default: 'basic',
    description:
      'how the client says who it is: by its secret in the Authorization header or in the body, by a signed assertion from a file or of its own, by its certificate, or not at all',
  },
  keyId: {
    kind: kinds.text,
    description: 'the kid of the assertions that are signed with privateKey',
  },
  algorithm: {
    kind: kinds.choice(['RS256', 'PS256', 'ES256', 'EdDSA']),
    default: 'RS256',
    description: 'what they are signed by',
  },
  assertionAudience: {
    kind: kinds.text,
    description: 'whom they are for; the token URL unless given',
  },
  assertionLifetime: {
    kind: kinds.duration({ min: 1_000, max: 3_600_000 }),
    default: '60s',
    description: 'how long an assertion of grant: jwtBearer is valid',
  },
  scope: {
    kind: kinds.text,
    description: 'what the token is asked to be good for; scopes with blanks between them',
  },
  audience: {
    kind: kinds.text,
    description: 'whom the token is for, where the token endpoint asks for it',
  },
} as const satisfies Record<string, Field<unknown>>;

/** Files of an `oauth2` credential, `{file: PATH}`: each is read anew at each login. */
export const OAUTH2_FILES = {
  assertion:
    'a JWT that somebody else signs for the client (RFC 7523), such as a projected token of Kubernetes',
  privateKey: 'the private key that assertions are signed with, in PEM or as a JWK',
  subjectToken: 'the token that is exchanged',
} as const;

/** Claims that bearerd sets in each assertion: `assertionClaims` can't. */
export const OWN_CLAIMS: readonly string[] = ['aud', 'exp', 'iat', 'nbf', 'jti'];

/** The certificate of an `oauth2` credential, for its token requests alone. */
export const OAUTH2_TLS = {
  certFile: 'its certificate, with the chain below it',
  keyFile: 'the private key of it',
} as const;

/** Form parameters that come from elsewhere, and from where: `parameters` can't set them. */
export const OWN_PARAMETERS: Readonly<Record<string, string>> = {
  grant_type: 'it comes from grant',
  client_id: 'it comes from clientId',
  client_secret: 'it comes from clientSecret',
  client_assertion: 'it comes from assertion or privateKey',
  assertion: 'it comes from assertion or privateKey',
  username: 'it comes from username',
  password: 'it comes from password',
  client_assertion_type: 'it is always that of a JWT',
  subject_token: 'it comes from subjectToken',
  subject_token_type: 'it comes from subjectTokenType',
  scope: 'it comes from scope, beside parameters',
  audience: 'it comes from audience, beside parameters',
};

/** What an `exec` credential has. */
export const EXEC_FIELDS = {
  command: {
    kind: kinds.command,
    description:
      'a program and its arguments, run without a shell; it prints the token, or JSON with token and expiresAt',
  },
  timeout: {
    kind: kinds.duration({ min: 1, ...LONGEST_TIMER }),
    default: '10s',
    description: 'longest time that it may take; then it is killed',
  },
} as const satisfies Record<string, Field<unknown>>;

/** What a `session` credential may have of its own in place of the global settings. */
export const SESSION_FIELDS = {
  baseUrl: {
    kind: kinds.baseUrl,
    description: 'the base URL that it logs in at, where it is not the global one',
  },
  sessionPath: {
    kind: kinds.sessionPath,
    description: 'the session endpoint below that, where it is not the global one',
  },
} as const satisfies Record<string, Field<unknown>>;

/** What each type of credential may have besides its secrets and what all of them have. */
export const OTHER_FIELDS: Readonly<Record<CredentialType, readonly string[]>> = {
  session: Object.keys(SESSION_FIELDS),
  apiKey: [],
  basic: [],
  oauth2: [
    ...Object.keys(OAUTH2_FIELDS),
    ...Object.keys(OAUTH2_FILES),
    'tls',
    'parameters',
    'assertionClaims',
  ],
  exec: Object.keys(EXEC_FIELDS),
};

/** `none` and `deny` are what a route says instead of a credential's name. */
export const RESERVED_NAMES: readonly string[] = ['none', 'deny'];
export const NAME_PATTERN = '^[A-Za-z][A-Za-z0-9_-]*$';

/** The values of one route; its `timeouts` are the global ones' twins. */
export const ROUTE_FIELDS = {
  prefix: {
    kind: kinds.path,
    description: 'the path that this route begins at; the longest one that matches wins, whatever the order',
  },
  credential: {
    kind: kinds.text,
    description: 'name of a credential, none (sent without one) or deny (refused)',
  },
  methods: {
    kind: kinds.methods,
    description: 'the methods that are let through; all unless given',
  },
  rewrite: {
    kind: kinds.path,
    description: 'the path that replaces the prefix',
  },
  upstream: {
    kind: kinds.baseUrl,
    description: 'another base URL, which the credential must list in its origins',
  },
  upstreamAddress: {
    kind: kinds.upstreamAddress,
    description: 'HOST or HOST:PORT to connect to in place of the host of its base URL',
  },
  clientAuthorization: {
    kind: kinds.choice(['replace', 'keep', 'reject']),
    default: 'replace',
    description:
      "what becomes of the client's own Authorization: replace it, keep it where there is one, or reject the request (400)",
  },
  overrideHeaders: {
    kind: kinds.choice(['remove', 'keep']),
    default: 'remove',
    description:
      'what becomes of headers that name another path or method (X-Original-URL, X-HTTP-Method-Override), where a credential goes with the request: remove them, or keep them',
  },
  scrub: {
    kind: kinds.flag,
    description: 'strike every credential and token out of answers; as the global setting says unless given',
  },
} as const satisfies Record<string, Field<unknown>>;

/** What an entry of `callers` may have besides its key. */
export const CALLER_FIELDS = {
  routes: {
    kind: kinds.prefixes,
    description: 'prefixes of the routes that it may use, each exactly as a route has it; all unless given',
  },
} as const satisfies Record<string, Field<unknown>>;

const SINK_CREDENTIAL = {
  kind: kinds.text,
  default: 'token',
  description: 'name of the credential that it holds',
} as const satisfies Field<string>;

/** What each type of sink has. Its first key is the place, and says which type it is. */
export const SINK_FIELDS = {
  haproxy: {
    haproxy: {
      kind: kinds.socketPath,
      description: "unix:PATH of HAProxy's Runtime API, which is told the credentials that it may send",
    },
    map: {
      kind: kinds.text,
      description: 'the map that they are put into: the path that the HAProxy configuration names',
    },
  },
  envoySds: {
    envoySds: {
      kind: kinds.sdsFile,
      description:
        'a .json or .yaml file that Envoy reads as a generic secret: the whole value of the header',
    },
    name: {
      kind: kinds.text,
      description: 'the name of the secret',
    },
    credential: SINK_CREDENTIAL,
  },
  file: {
    file: {
      kind: kinds.text,
      description: 'a file that holds the token alone, while there is one',
    },
    credential: SINK_CREDENTIAL,
  },
} as const satisfies Record<string, Record<string, Field<unknown>>>;

export type SinkType = keyof typeof SINK_FIELDS;

export const TIMEOUT_FIELDS = {
  connect: SETTINGS.connectMs,
  response: SETTINGS.responseMs,
  idle: SETTINGS.idleMs,
} as const;
