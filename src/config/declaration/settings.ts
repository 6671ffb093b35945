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

/** The values of the settings that aren't secret, by name. */
export type Values = { readonly [K in Exclude<keyof Settings, SecretName>]: ValueOf<Settings[K]> };

/** Milliseconds; 0 means that there is no limit (`off`). */
export type Timeouts = Pick<Values, 'connectMs' | 'responseMs' | 'idleMs'>;

const ALL: readonly (readonly [string, Setting<unknown> | SecretSetting])[] = Object.entries(SETTINGS);

export const PLAIN_SETTINGS = ALL.flatMap(([name, setting]) =>
  'secret' in setting ? [] : [[name, setting] as const],
);
export const SECRET_SETTINGS = ALL.flatMap(([, setting]) => ('secret' in setting ? [setting] : []));

/** `bearerd exec` sets it for its child, which may be another bearerd: it is known and ignored. */
export const URL_VARIABLE = 'BEARERD_URL';

export const KNOWN_VARIABLES: readonly string[] = ALL.flatMap(([, setting]) =>
  'secret' in setting ? formsOf(setting) : [setting.variable],
);
