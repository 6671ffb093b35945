import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { readinessProbe } from './probe.ts';

export const healthcheck: Command = {
  synopsis: '[--admin-listen ADDRESS] [--config FILE]',
  summary: 'exits with 0 if the running proxy of this configuration is ready, else with 1',
  help: '\n  --admin-listen ADDRESS   where the admin listener of the proxy is\n\nFor images without curl: it asks the admin listener.\n',
  examples: ['bearerd healthcheck && echo ready'],
  variables: ['BEARERD_CONFIG', 'BEARERD_ADMIN_LISTEN'],
  options: {},
  settings: ['admin-listen'],
  positionals: [0, 0],
  async run(values) {
    const isReady = await readinessProbe(values);
    if (await isReady()) return EXIT.done;
    process.stderr.write('bearerd: not ready, or not running\n');
    return EXIT.failed;
  },
};
