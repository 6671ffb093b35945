import { stringify } from 'yaml';
import type { Config } from '../config/config.ts';
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
  options: { online: { type: 'boolean' } },
  positionals: [0, 0],
  settings: true,
  async run(values) {
    const config = await configurationOf(values);
    const from = config.file === undefined ? 'the environment alone' : `the environment and ${config.file}`;
    await print(`# The configuration is valid. Read from ${from}.\n${stringify(config.effective)}`);
    return values.online === true ? tryLogins(config) : EXIT.done;
  },
};

/** The worst result decides: refused credentials before an endpoint that can't be reached. */
async function tryLogins(config: Config): Promise<number> {
  let worst: number = EXIT.done;
  for (const credential of config.credentials.values()) {
    if (!logsIn(credential)) continue;
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
