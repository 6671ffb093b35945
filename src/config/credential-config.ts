import type { Secret } from '../base/secret.ts';
import type { Upstream } from './upstream-config.ts';

/** A place in a request other than a header: a query parameter or a cookie. */
export interface Elsewhere {
  readonly in: 'query' | 'cookie';
  readonly name: string;
}

/** What the kinds of credential have in common: where it may go, and where in a request it stands. */
export interface CredentialPlacement {
  readonly name: string;
  /** The origins that it may be sent to; the base URL's where the configuration names none. */
  readonly origins: readonly string[];
  /** Header name as it is sent, `Authorization` unless configured. */
  readonly header: string;
  /** `Bearer` in `Authorization` and empty elsewhere, unless configured; empty for the bare value. */
  readonly scheme: string;
  /** Present where the credential is not sent in a header. */
  readonly elsewhere?: Elsewhere;
}

export type SessionGrant =
  | { readonly kind: 'service-account'; readonly clientId: Secret; readonly clientSecret: Secret }
  | { readonly kind: 'user'; readonly username: Secret; readonly password: Secret };

export interface SessionCredentialConfig extends CredentialPlacement {
  readonly kind: 'session';
  readonly grant: SessionGrant;
  /** Where it logs in, if not at the global base URL. */
  readonly baseUrl?: Upstream;
  readonly sessionPath?: string;
}

export interface ApiKeyCredentialConfig extends CredentialPlacement {
  readonly kind: 'api-key';
  readonly key: Secret;
}

/** A user name and a password for `Authorization: Basic` (RFC 7617). */
export interface BasicCredentialConfig extends CredentialPlacement {
  readonly kind: 'basic';
  readonly username: Secret;
  readonly password: Secret;
}

/** Where an OAuth 2.0 token is obtained: `path` begins with `/` and holds the query, if there is one. */
export interface TokenEndpoint {
  readonly origin: string;
  readonly path: string;
}

/** A file that is read anew at each login: a change needs no reload. */
export interface LoginFile {
  /** Absolute. */
  readonly path: string;
  /** As a message may show it. */
  readonly shown: string;
}

/**
 * How an OAuth 2.0 client says who it is. Only the first has a secret of its own in the configuration; what the others
 * prove themselves by changes from login to login, or is the client's certificate.
 */
export type ClientAuthentication =
  /** In the `Authorization` header, or among the form's parameters (RFC 6749 §2.3.1). */
  | {
      readonly clientAuthentication: 'basic' | 'body';
      readonly clientId: Secret;
      readonly clientSecret: Secret;
    }
  /** A JWT that another program signs for us (RFC 7523 §2.2). */
  | {
      readonly clientAuthentication: 'assertion';
      readonly clientId?: Secret;
      readonly assertion: LoginFile;
    }
  /** A JWT that we sign (RFC 7523 §2.2). */
  | ({ readonly clientAuthentication: 'privateKeyJwt'; readonly clientId: Secret } & SigningKey)
  /** By the certificate in `tls` (RFC 8705 §2). */
  | {
      readonly clientAuthentication: 'tls';
      readonly clientId: Secret;
      readonly tls: ClientCertificate;
    }
  /** A public client: its name at most. */
  | { readonly clientAuthentication: 'none'; readonly clientId?: Secret };

/** What assertions are signed with. */
export interface SigningKey {
  readonly privateKey: LoginFile;
  readonly keyId?: string;
  readonly algorithm: SigningAlgorithm;
  /** The token endpoint unless given. */
  readonly assertionAudience?: string;
}

export type SigningAlgorithm = 'RS256' | 'PS256' | 'ES256' | 'EdDSA';

export interface ClientCertificate {
  readonly certFile: LoginFile;
  readonly keyFile: LoginFile;
}

/** Another party's token that is exchanged for ours (RFC 8693). */
export interface TokenExchange {
  readonly subjectToken: LoginFile;
  readonly subjectTokenType: string;
}

/** An assertion that is the grant itself (RFC 7523 §2.1): from a file, or signed by us. */
export type AssertionGrant =
  | { readonly assertion: LoginFile }
  | (SigningKey & {
      /** All but `aud`, `iat`, `exp` and `jti`, which we set. `iss` and `sub` are the client unless given here. */
      readonly claims: Readonly<Record<string, unknown>>;
      readonly lifetimeMs: number;
    });

/** A person whose name and password are the grant (RFC 6749 §4.3). */
export interface ResourceOwner {
  readonly username: Secret;
  readonly password: Secret;
}

/** A client of a token endpoint, by client credentials (RFC 6749 §4.4) unless it has one of the other grants. */
export type OAuth2CredentialConfig = OAuth2Common & ClientAuthentication;

export interface OAuth2Common extends CredentialPlacement {
  readonly kind: 'oauth2';
  /** Exactly one of these two is present: the endpoint, or the issuer whose metadata names it. */
  readonly tokenEndpoint?: TokenEndpoint;
  readonly issuer?: string;
  /** The certificate that it shows to the token endpoint. */
  readonly tls?: ClientCertificate;
  /** Present with the grant `tokenExchange`. */
  readonly exchange?: TokenExchange;
  /** Present with the grant `jwtBearer`. */
  readonly assertionGrant?: AssertionGrant;
  /** Present with the grant `password`. */
  readonly owner?: ResourceOwner;
  readonly scope?: string;
  readonly audience?: string;
  /** More form parameters, beside those that the fields above set. */
  readonly parameters: Readonly<Record<string, Secret>>;
}

/** A program that prints a token. */
export interface ExecCredentialConfig extends CredentialPlacement {
  readonly kind: 'exec';
  /** The program and its arguments; run as they stand, without a shell. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

export type CredentialConfig =
  | SessionCredentialConfig
  | ApiKeyCredentialConfig
  | BasicCredentialConfig
  | OAuth2CredentialConfig
  | ExecCredentialConfig;
