import type {
  AssertionGrant,
  CallerConfig,
  Config,
  CredentialConfig,
  ListenTls,
  OAuth2CredentialConfig,
  RouteConfig,
  SigningKey,
  SinkConfig,
  TlsFiles,
} from '../config.ts';
import {
  EXEC_FIELDS,
  OAUTH2_FIELDS,
  ROUTE_FIELDS,
  SESSION_FIELDS,
  SINK_FIELDS,
  TIMEOUT_FIELDS,
} from '../declaration/file-fields.ts';
import { FILE_SETTINGS, PLAIN_SETTINGS, SETTINGS, type Values } from '../declaration/settings.ts';
import { formatBaseUrl } from '../values/urls.ts';

const HIDDEN = '***';

function oauth2View(credential: OAuth2CredentialConfig): Record<string, unknown> {
  const { tokenEndpoint, issuer, clientId, exchange, assertionGrant, owner, tls, scope, audience } =
    credential;
  const parameters = Object.keys(credential.parameters).map((name) => [name, HIDDEN]);
  return {
    type: 'oauth2',
    ...(tokenEndpoint && { tokenUrl: OAUTH2_FIELDS.tokenUrl.kind.format(tokenEndpoint) }),
    ...(issuer !== undefined && { issuer }),
    ...(clientId && { clientId: HIDDEN }),
    ...authenticationView(credential),
    ...(tls && { tls: { certFile: tls.certFile.shown, keyFile: tls.keyFile.shown } }),
    ...(exchange && {
      grant: 'tokenExchange',
      subjectToken: { file: exchange.subjectToken.shown },
      subjectTokenType: exchange.subjectTokenType,
    }),
    ...(assertionGrant && { grant: 'jwtBearer', ...assertionGrantView(assertionGrant) }),
    ...(owner && { grant: 'password', username: HIDDEN, password: HIDDEN }),
    ...(scope !== undefined && { scope }),
    ...(audience !== undefined && { audience }),
    ...(parameters.length > 0 && { parameters: Object.fromEntries(parameters) }),
  };
}

function authenticationView(credential: OAuth2CredentialConfig): Record<string, unknown> {
  const { clientAuthentication } = credential;
  switch (clientAuthentication) {
    case 'basic':
    case 'body':
      return { clientSecret: HIDDEN, clientAuthentication };
    case 'assertion':
      return { clientAuthentication, assertion: { file: credential.assertion.shown } };
    case 'privateKeyJwt':
      return { clientAuthentication, ...signingKeyView(credential) };
    case 'tls':
    case 'none':
      return { clientAuthentication };
  }
}

function assertionGrantView(grant: AssertionGrant): Record<string, unknown> {
  if ('assertion' in grant) return { assertion: { file: grant.assertion.shown } };
  return {
    ...signingKeyView(grant),
    // Claims name accounts, and may name more: which there are is enough.
    assertionClaims: Object.fromEntries(Object.keys(grant.claims).map((name) => [name, HIDDEN])),
    assertionLifetime: OAUTH2_FIELDS.assertionLifetime.kind.format(grant.lifetimeMs),
  };
}

function signingKeyView({
  privateKey,
  keyId,
  algorithm,
  assertionAudience,
}: SigningKey): Record<string, unknown> {
  return {
    privateKey: { file: privateKey.shown },
    ...(keyId !== undefined && { keyId }),
    algorithm,
    ...(assertionAudience !== undefined && { assertionAudience }),
  };
}

function contentView(credential: CredentialConfig): Record<string, unknown> {
  switch (credential.kind) {
    case 'api-key':
      return { type: 'apiKey', key: HIDDEN };
    case 'basic':
      return { type: 'basic', username: HIDDEN, password: HIDDEN };
    case 'session': {
      const { grant, baseUrl, sessionPath } = credential;
      return {
        type: 'session',
        ...(grant.kind === 'user'
          ? { username: HIDDEN, password: HIDDEN }
          : { clientId: HIDDEN, clientSecret: HIDDEN }),
        ...(baseUrl && { baseUrl: SESSION_FIELDS.baseUrl.kind.format(baseUrl) }),
        ...(sessionPath !== undefined && { sessionPath }),
      };
    }
    case 'oauth2':
      return oauth2View(credential);
    case 'exec': {
      const { command, timeoutMs } = credential;
      return { type: 'exec', command, timeout: EXEC_FIELDS.timeout.kind.format(timeoutMs) };
    }
  }
}

function credentialView(credential: CredentialConfig): Record<string, unknown> {
  const { origins, header, scheme, elsewhere } = credential;
  const where = elsewhere ?? (credential.kind === 'basic' ? { header } : { header, scheme });
  return { ...contentView(credential), origins, ...where };
}

/** A route as it would stand in the file; what is the same as the global setting is left out. */
function routeView(route: RouteConfig, values: Values): Record<string, unknown> {
  const { prefix, credential, methods, rewrite, timeouts, clientAuthorization, overrideHeaders, scrub } =
    route;
  const { connect, response, idle } = TIMEOUT_FIELDS;
  const own = {
    ...(timeouts.connectMs !== values.connectMs && { connect: connect.kind.format(timeouts.connectMs) }),
    ...(timeouts.responseMs !== values.responseMs && { response: response.kind.format(timeouts.responseMs) }),
    ...(timeouts.idleMs !== values.idleMs && { idle: idle.kind.format(timeouts.idleMs) }),
  };
  const upstream = formatBaseUrl(route.upstream);
  const address = route.upstreamAddress && ROUTE_FIELDS.upstreamAddress.kind.format(route.upstreamAddress);
  const usual = values.upstreamAddress && ROUTE_FIELDS.upstreamAddress.kind.format(values.upstreamAddress);
  const elsewhere = values.upstream !== undefined && upstream !== formatBaseUrl(values.upstream);
  return {
    prefix,
    credential,
    ...(methods && { methods }),
    ...(rewrite && { rewrite }),
    ...(elsewhere && { upstream }),
    ...(address !== undefined && address !== usual && { upstreamAddress: address }),
    ...(Object.keys(own).length > 0 && { timeouts: own }),
    clientAuthorization,
    ...(overrideHeaders !== ROUTE_FIELDS.overrideHeaders.default && { overrideHeaders }),
    ...(scrub !== values.scrub && { scrub }),
  };
}

function callerView({ routes }: CallerConfig): Record<string, unknown> {
  return { key: HIDDEN, ...(routes && { routes }) };
}

function sinkView(sink: SinkConfig): Record<string, unknown> {
  switch (sink.kind) {
    case 'haproxy':
      return { haproxy: SINK_FIELDS.haproxy.haproxy.kind.format(sink.path), map: sink.map };
    case 'envoySds':
      return { envoySds: sink.path, name: sink.name, credential: sink.credential };
    case 'file':
      return { file: sink.path, credential: sink.credential };
  }
}

/** Every single setting at its place in the file. */
function settingsView(values: Values): Record<string, unknown> {
  const view: Record<string, unknown> = {};
  const groups: Record<string, Record<string, unknown>> = {};
  const named: Readonly<Record<string, unknown>> = values;
  const inFile = new Set(FILE_SETTINGS.map((setting) => setting.key));
  for (const [name, setting] of PLAIN_SETTINGS) {
    const value = named[name];
    if (setting.key === undefined || !inFile.has(setting.key) || value === undefined) continue;
    const [first = '', second] = setting.key.split('.');
    if (second === undefined) view[first] = setting.kind.format(value);
    else {
      groups[first] ??= {};
      groups[first][second] = setting.kind.format(value);
      view[first] = groups[first];
    }
  }
  return view;
}

function shareView({ prefix, key }: NonNullable<Config['share']>): Record<string, unknown> {
  return { url: HIDDEN, prefix, ...(key && { key: HIDDEN }) };
}

/** As they were found, and not as they were written. */
function pathsOf({ caFile, certFile, keyFile }: TlsFiles): Record<string, string> {
  return { ...(caFile && { caFile }), ...(certFile && { certFile }), ...(keyFile && { keyFile }) };
}

/** What is in force, for a person to read: in the shape of the file, each secret as `***`. */
export function effectiveView(
  values: Values,
  config: Pick<Config, 'credentials' | 'routes' | 'callerKey' | 'callers' | 'share' | 'sinks'>,
  { tls, listenTls }: Pick<Config, 'tls'> & { readonly listenTls: ListenTls | undefined },
): Record<string, unknown> {
  const files = pathsOf(tls);
  // The prefix alone says nothing where nothing is shared.
  const { share: _prefix, ...settings } = settingsView(values);
  return {
    ...settings,
    ...(Object.keys(files).length > 0 && { tls: files }),
    ...(config.share && { share: shareView(config.share) }),
    ...(listenTls && { listenTls: pathsOf(listenTls) }),
    ...(config.callerKey && { [SETTINGS.callerKey.key]: HIDDEN }),
    ...(config.callers.length > 0 && {
      callers: Object.fromEntries(config.callers.map((caller) => [caller.name, callerView(caller)])),
    }),
    credentials: Object.fromEntries(
      [...config.credentials].map(([name, each]) => [name, credentialView(each)]),
    ),
    routes: config.routes.map((route) => routeView(route, values)),
    ...(config.sinks.length > 0 && { sinks: config.sinks.map(sinkView) }),
  };
}
