import type { JsonSchema, Kind } from '../values/kind.ts';
import {
  CALLER_FIELDS,
  type CredentialType,
  EXEC_FIELDS,
  NAME_PATTERN,
  OAUTH2_FIELDS,
  OAUTH2_FILES,
  OAUTH2_TLS,
  OWN_CLAIMS,
  OWN_PARAMETERS,
  PLACEMENT_FIELDS,
  RESERVED_NAMES,
  ROUTE_FIELDS,
  SECRET_FIELDS,
  SESSION_FIELDS,
  SINK_FIELDS,
  TIMEOUT_FIELDS,
} from './file-fields.ts';
import { FILE_SETTINGS, PLAIN_SETTINGS, SECRET_SETTINGS, SETTINGS, URL_VARIABLE } from './settings.ts';

/** The environment for env-schema, which changes the object that it gets: a new one each time. */
export function environmentSchema(): Record<string, unknown> {
  const text = (name: string, description: string) => [name, { type: 'string', description }];
  const properties = Object.fromEntries([
    ...PLAIN_SETTINGS.map(([, setting]) => text(setting.variable, setting.description)),
    ...SECRET_SETTINGS.flatMap(({ variable, description }) => [
      text(variable, description),
      text(`${variable}_FILE`, `file that holds it: ${description}`),
    ]),
    text(URL_VARIABLE, 'set by `bearerd exec` for its child; ignored'),
  ]);
  return { type: 'object', properties };
}

interface Described {
  readonly kind: Kind<unknown>;
  readonly default?: string;
  readonly description: string;
}

function valueSchema({ kind, description, default: text }: Described): JsonSchema {
  const parsed = text === undefined || text === '' ? undefined : kind.parse(text);
  const given = parsed !== undefined && 'value' in parsed ? { default: kind.format(parsed.value) } : {};
  return { ...kind.schema, description, ...given };
}

function mapSchema(properties: JsonSchema, required: readonly string[] = []): JsonSchema {
  const needs = required.length > 0 ? { required } : {};
  return { type: 'object', additionalProperties: false, properties, ...needs };
}

function mapValues<T>(map: Readonly<Record<string, T>>, change: (value: T) => JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]));
}

const SECRET: JsonSchema = {
  description:
    'the secret itself, {env: NAME} or {file: PATH} (from the folder of this file, where it is relative)',
  oneOf: [
    { type: 'string', minLength: 1 },
    mapSchema({ env: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' } }, ['env']),
    mapSchema({ file: { type: 'string', minLength: 1 } }, ['file']),
  ],
};

const SECRET_REFERENCE: JsonSchema = { $ref: '#/definitions/secret' };

/** Where it may go and stand, as far as this type may say. */
function placement(type: CredentialType): Readonly<Record<string, Described>> {
  const { origins, header } = PLACEMENT_FIELDS;
  return type === 'basic' ? { origins, header } : PLACEMENT_FIELDS;
}

/** `own` are the properties that this type alone has; `required` those of them that have to be there. */
function credentialSchema(
  type: CredentialType,
  secrets: readonly string[],
  own: JsonSchema = {},
  required: readonly string[] = [],
): JsonSchema {
  const properties = {
    type: { const: type },
    ...Object.fromEntries(secrets.map((secret) => [secret, SECRET_REFERENCE])),
    ...own,
    ...mapValues<Described>(placement(type), valueSchema),
  };
  return mapSchema(properties, ['type', ...required, ...secrets]);
}

function oauth2Schema(): JsonSchema {
  const parameters = {
    type: 'object',
    description: 'more form parameters, such as resource',
    propertyNames: { not: { enum: Object.keys(OWN_PARAMETERS) } },
    additionalProperties: SECRET_REFERENCE,
  };
  const file = (description: string) => ({
    ...mapSchema({ file: { type: 'string', minLength: 1 } }, ['file']),
    description: `${description}; read anew at each login`,
  });
  const path = (description: string) => ({
    type: 'string',
    minLength: 1,
    description: `${description}; read anew at each login`,
  });
  const own = {
    ...Object.fromEntries(SECRET_FIELDS.oauth2.map((secret) => [secret, SECRET_REFERENCE])),
    ...mapValues<Described>(OAUTH2_FIELDS, valueSchema),
    ...mapValues<string>(OAUTH2_FILES, file),
    tls: mapSchema(mapValues<string>(OAUTH2_TLS, path), Object.keys(OAUTH2_TLS)),
    parameters,
    assertionClaims: {
      type: 'object',
      description:
        'claims of the assertion of grant: jwtBearer; iss and sub are clientId unless they are here',
      propertyNames: { not: { enum: OWN_CLAIMS } },
    },
  };
  const { required: _, ...schema } = credentialSchema('oauth2', [], own);
  const by = (methods: readonly string[], required: readonly string[]) => ({
    properties: { clientAuthentication: { enum: methods } },
    required: methods.includes('basic') ? required : ['clientAuthentication', ...required],
  });
  return {
    ...schema,
    required: ['type'],
    allOf: [
      { oneOf: [{ required: ['tokenUrl'] }, { required: ['issuer'] }] },
      {
        anyOf: [
          by(['basic', 'body'], ['clientId', 'clientSecret']),
          by(['assertion'], ['assertion']),
          by(['privateKeyJwt'], ['clientId', 'privateKey']),
          by(['tls'], ['clientId', 'tls']),
          by(['none'], []),
          { properties: { grant: { const: 'jwtBearer' } }, required: ['grant'] },
        ],
      },
    ],
  };
}

function credentialsSchema(): JsonSchema {
  const [clientId, clientSecret, username, password] = SECRET_FIELDS.session;
  const session = mapValues<Described>(SESSION_FIELDS, valueSchema);
  return {
    type: 'object',
    description: 'credentials by name; the variables set token and apiKey',
    propertyNames: { pattern: NAME_PATTERN, not: { enum: RESERVED_NAMES } },
    additionalProperties: {
      oneOf: [
        credentialSchema('session', [clientId, clientSecret], session),
        credentialSchema('session', [username, password], session),
        credentialSchema('apiKey', SECRET_FIELDS.apiKey),
        credentialSchema('basic', SECRET_FIELDS.basic),
        oauth2Schema(),
        credentialSchema('exec', [], mapValues<Described>(EXEC_FIELDS, valueSchema), ['command']),
      ],
    },
  };
}

function callersSchema(): JsonSchema {
  const properties = { key: SECRET_REFERENCE, ...mapValues<Described>(CALLER_FIELDS, valueSchema) };
  return {
    type: 'object',
    description: 'those who may call, by name, each with a key of its own',
    propertyNames: { pattern: NAME_PATTERN },
    additionalProperties: mapSchema(properties, ['key']),
  };
}

function routesSchema(): JsonSchema {
  const timeouts = mapValues<Described>(TIMEOUT_FIELDS, ({ kind, description }) => ({
    ...kind.schema,
    description,
  }));
  const properties = {
    ...mapValues<Described>(ROUTE_FIELDS, valueSchema),
    timeouts: { ...mapSchema(timeouts), description: 'in place of the global ones' },
  };
  return {
    type: 'array',
    minItems: 1,
    description:
      'routes; without any, everything goes with token, or with apiKey where only a key is configured',
    items: mapSchema(properties, ['prefix', 'credential']),
  };
}

function sinksSchema(): JsonSchema {
  const types = Object.entries(SINK_FIELDS).map(([type, fields]) => {
    const needed = Object.keys(fields).filter((key) => key !== 'credential');
    return { title: type, ...mapSchema(mapValues<Described>(fields, valueSchema), needed) };
  });
  return {
    type: 'array',
    description: 'places outside of bearerd that hold a credential; none unless given',
    items: { oneOf: types },
  };
}

/** The single settings, `session.path` as a property of `session`. */
function settingsProperties(): JsonSchema {
  const top: Record<string, JsonSchema> = {};
  const groups: Record<string, Record<string, JsonSchema>> = {};
  for (const setting of FILE_SETTINGS) {
    const [first = '', second] = setting.key.split('.');
    if (second === undefined) top[first] = valueSchema(setting);
    else groups[first] = { ...groups[first], [second]: valueSchema(setting) };
  }
  return { ...top, ...mapValues(groups, (properties) => mapSchema(properties)) };
}

function secretSchema({ description }: { readonly description: string }): JsonSchema {
  return { allOf: [SECRET_REFERENCE], description };
}

function shareSchema(): JsonSchema {
  const { shareUrl, sharePrefix, shareKey } = SETTINGS;
  const properties = {
    url: secretSchema(shareUrl),
    prefix: valueSchema(sharePrefix),
    key: secretSchema(shareKey),
  };
  return { ...mapSchema(properties), description: 'one login for many instances' };
}

/** The configuration file, for editors and for `bearerd schema` (draft-07, which every editor knows). */
export function fileSchema(): JsonSchema {
  const callerKey = secretSchema(SETTINGS.callerKey);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'bearerd configuration file',
    description: 'A BEARERD_ variable wins over the same setting here. See docs/configuration.md.',
    ...mapSchema({
      ...settingsProperties(),
      callerKey,
      callers: callersSchema(),
      share: shareSchema(),
      credentials: credentialsSchema(),
      routes: routesSchema(),
      sinks: sinksSchema(),
    }),
    definitions: { secret: SECRET },
  };
}
