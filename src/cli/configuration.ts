import type { Environment } from '../base/environment.ts';
import type { Config } from '../config/config.ts';
import { FLAGS } from '../config/declaration/flags.ts';
import { type CommandLine, ConfigurationSource } from '../config/source.ts';
import { type OptionValues, textOption } from './command.ts';
import { endingInOrder } from './signals.ts';

/** The configuration that this command line and environment mean. */
export function configurationOf(values: OptionValues, env: Environment = process.env): Promise<Config> {
  return configurationSource(values, env).load({ around: endingInOrder });
}

/** The same without the values of secrets: no command of a secret runs. */
export function configurationWithoutSecrets(values: OptionValues): Promise<Config> {
  return configurationSource(values, process.env).load({ standIns: true });
}

/** Where a proxy that runs with this command line and environment listens, if need be without the rest. */
export function listenOf(name: 'listen' | 'adminListen', values: OptionValues): Promise<Config['listen']> {
  return configurationSource(values, process.env).loadListen(name);
}

/** Where the configuration comes from with this command line. */
export function configurationSource(
  values: OptionValues,
  env: Environment = process.env,
  more: Pick<CommandLine, 'content' | 'defaults' | 'unlessSet'> = {},
): ConfigurationSource {
  const flags: Record<string, string> = {};
  for (const { name, variable } of FLAGS) {
    const text = textOption(values, name);
    if (text !== undefined) flags[variable] = text;
  }
  return new ConfigurationSource(env, { configFile: textOption(values, 'config'), flags, ...more });
}
