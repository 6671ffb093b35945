import type { Config } from '../config/config.ts';
import { filesRead, inForce } from '../config/shown/in-force.ts';
import { LoginError } from '../errors.ts';
import { logsIn } from '../gateway/logins.ts';
import { type Command, print } from './command.ts';
import { configurationOf } from './configuration.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { logIn } from './log-in.ts';

export const check: Command = {
  synopsis: '[--online] [--config FILE]',
  summary: 'reads the whole configuration, names every fault, and prints what is in force',
  help: '\n  --online   also logs in with each credential that is a token, and calls nothing else\n',
  examples: ['bearerd check', 'bearerd check --online --config bearerd.yaml'],
  variables: ['BEARERD_CONFIG', 'BEARERD_BASE_URL', 'BEARERD_CLIENT_ID', 'BEARERD_CLIENT_SECRET_FILE'],
  options: { online: { type: 'boolean' } },
  positionals: [0, 0],
  settings: true,
  async run(values) {
    const config = await configurationOf(values);
    await print(`${sources(config)}${await inForce(config)}`);
    const code = values.online === true ? await tryLogins(config) : EXIT.done;
    const logins =
      values.online !== true ? '' : code === EXIT.done ? '; the logins work' : '; a login failed';
    await print(`# The configuration is valid${logins}.\n`);
    return code;
  },
};

/** What was read, and what was not though it is there. */
function sources(config: Config): string {
  const read = ['flags', 'the environment', ...filesRead(config)].join(', ');
  const ignored = '# .env is not read, since a configuration file is named\n';
  return `# Read: ${read}\n${config.dotEnv === 'ignored' ? ignored : ''}`;
}

/** The worst result decides: refused credentials before an endpoint that can't be reached. */
async function tryLogins(config: Config): Promise<number> {
  let worst: number = EXIT.done;
  for (const credential of config.credentials.values()) {
    if (!logsIn(credential)) {
      await print(`# ${credential.name}: not tried; only a request can try a key\n`);
      continue;
    }
    try {
      const { lifetimeMs, warnings } = await logIn(config, credential);
      const notes = warnings.map((warning) => ` (${warning})`).join('');
      await print(
        `# ${credential.name}: fresh; the token lives for ${Math.round(lifetimeMs / 1000)} s${notes}\n`,
      );
    } catch (error) {
      if (!(error instanceof LoginError)) throw error;
      const state = error.code === 'refused' ? 'refused' : 'starting';
      process.stderr.write(`bearerd: ${credential.name}: ${state}; ${error.message}\n`);
      worst = Math.max(worst, exitCodeOf(error) ?? EXIT.failed);
    }
  }
  return worst;
}
