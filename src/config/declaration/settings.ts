import type { Kind } from '../values/kind.ts';
import { CLIENT_SETTINGS } from './client-settings.ts';
import { RUNNING_SETTINGS } from './running-settings.ts';
import { formsOf, type SecretSetting, type Setting } from './setting.ts';
import { UPSTREAM_SETTINGS } from './upstream-settings.ts';

/**
 * Every setting, once. The variables, the shape of the file, `bearerd schema` and the table in
 * docs/configuration.md all come from here, in this order.
 */
export const SETTINGS = { ...UPSTREAM_SETTINGS, ...CLIENT_SETTINGS, ...RUNNING_SETTINGS } as const;

type Settings = typeof SETTINGS;
type SecretName = { [K in keyof Settings]: Settings[K] extends SecretSetting ? K : never }[keyof Settings];

type ValueOf<S> = S extends { kind: Kind<infer T> }
  ? S extends { default: string }
    ? T
    : T | undefined
  : never;

/** What the settings that aren't secret say, by their names above. */
export type Values = { readonly [K in Exclude<keyof Settings, SecretName>]: ValueOf<Settings[K]> };

const ALL: readonly (readonly [string, Setting<unknown> | SecretSetting])[] = Object.entries(SETTINGS);

export const PLAIN_SETTINGS = ALL.flatMap(([name, setting]) =>
  'secret' in setting ? [] : [[name, setting] as const],
);
export const SECRET_SETTINGS = ALL.flatMap(([, setting]) => ('secret' in setting ? [setting] : []));

/** `bearerd exec` sets it for its child, which may be another bearerd: known, and ignored. */
export const URL_VARIABLE = 'BEARERD_URL';

/** Parts of the file that are more than one value, with readers of their own. */
export const STRUCTURED_KEYS = ['credentials', 'routes', 'callers', 'sinks'];

/** Settings that one key of the file gives, `session.path` for one. */
export const FILE_SETTINGS = PLAIN_SETTINGS.flatMap(([name, setting]) =>
  setting.key === undefined || STRUCTURED_KEYS.includes(setting.key)
    ? []
    : [{ ...setting, name, key: setting.key }],
);

/** The same for secrets: those that are not a part of a credential. */
export const FILE_SECRETS = SECRET_SETTINGS.filter(
  ({ key }) => !STRUCTURED_KEYS.includes(key.replace(/\..*/, '')),
);

export const KNOWN_VARIABLES: readonly string[] = ALL.flatMap(([, setting]) =>
  'secret' in setting ? formsOf(setting) : [setting.variable],
);

/** Every dotted key of the file: the single settings, and the structured ones. */
export const FILE_KEYS: readonly string[] = [
  ...[...FILE_SETTINGS, ...FILE_SECRETS].map(({ key }) => key),
  ...STRUCTURED_KEYS,
];
