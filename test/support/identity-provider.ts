import type { KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { jwtVerify } from 'jose';
import Provider, { type ClientMetadata, errors as oidcErrors } from 'oidc-provider';
import type { Test } from 'tap';

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const RESOURCE = 'urn:example:api';

export interface IdentityProvider {
  readonly issuer: string;
  /** Client IDs, one for each token given. */
  readonly given: string[];
  /** Errors that it told of. */
  readonly errors: string[];
}

interface ProviderOptions {
  /** Where it asks for clients' certificates. */
  readonly tls?: https.ServerOptions;
  readonly lifetimeS?: number;
  /** What assertions are signed with that are a grant. */
  readonly bearerKey?: KeyObject;
}

/** A real identity provider on loopback. */
export async function identityProvider(
  t: Test,
  clients: readonly ClientMetadata[],
  { tls, lifetimeS = 60, bearerKey }: ProviderOptions = {},
): Promise<IdentityProvider> {
  let answer: ReturnType<Provider['callback']>;
  const server: Server = tls
    ? https.createServer({ ...tls, requestCert: true }, (request, response) => void answer(request, response))
    : createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close().closeAllConnections());
  const issuer = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: clients.map((client) => ({
      redirect_uris: [],
      response_types: [],
      grant_types: ['client_credentials'],
      ...client,
    })) as ClientMetadata[],
    clientAuthMethods: [
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
      'none',
      ...(tls ? (['tls_client_auth'] as const) : []),
    ],
    enabledJWA: { clientAuthSigningAlgValues: ['RS256', 'PS256', 'ES256', 'EdDSA'] },
    scopes: ['read'],
    ttl: { ClientCredentials: lifetimeS },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      mTLS: {
        enabled: tls !== undefined,
        tlsClientAuth: true,
        certificateAuthorized: (context) => authorized(context.req.socket),
        certificateSubjectMatches: () => true,
        getCertificate: (context) => pemOf(context.req.socket),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => RESOURCE,
        getResourceServerInfo: () => ({ scope: 'read', accessTokenFormat: 'opaque' }),
      },
    },
  });
  const errors: string[] = [];
  const given: string[] = [];
  provider.on('server_error', (_context, error) => errors.push(String(error)));
  provider.on('grant.error', (_context, error) => errors.push(`${error.error}: ${error.error_description}`));
  provider.on('grant.success', (context) => given.push(context.oidc.client?.clientId ?? ''));
  provider.registerGrantType(
    TOKEN_EXCHANGE,
    (context) => {
      const { subject_token: subject } = context.oidc.params ?? {};
      context.body = {
        access_token: `exchanged-${String(subject)}`,
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: lifetimeS,
      };
      return Promise.resolve();
    },
    ['subject_token', 'subject_token_type', 'audience', 'scope'],
  );
  const tokenFor = (subject: string) => ({
    access_token: `for-${subject}`,
    token_type: 'Bearer',
    expires_in: lifetimeS,
  });
  if (bearerKey !== undefined)
    provider.registerGrantType(
      JWT_BEARER,
      async (context) => {
        const assertion = String(context.oidc.params?.assertion);
        const { payload } = await jwtVerify(assertion, bearerKey, {
          audience: `${issuer}/token`,
          maxTokenAge: 60,
        });
        context.body = tokenFor(payload.sub ?? '');
      },
      ['assertion', 'scope'],
    );
  provider.registerGrantType(
    'password',
    (context) => {
      const { username, password } = context.oidc.params ?? {};
      if (password !== 'p&w=1%41 é') throw new oidcErrors.InvalidGrant('wrong');
      context.body = tokenFor(String(username));
      return Promise.resolve();
    },
    ['username', 'password', 'scope'],
  );
  answer = provider.callback();
  return { issuer, given, errors };
}

function authorized(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.authorized;
}

function pemOf(socket: Socket): string | undefined {
  const raw: Buffer | undefined = socket instanceof TLSSocket ? socket.getPeerCertificate().raw : undefined;
  if (raw === undefined) return undefined;
  return `-----BEGIN CERTIFICATE-----\n${raw.toString('base64')}\n-----END CERTIFICATE-----`;
}
