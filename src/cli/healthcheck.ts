import { adminAddress } from './admin-address.ts';
import { reasonsUnready } from './admin-client.ts';
import { type Command, complain } from './command.ts';
import { EXIT } from './exit-codes.ts';

export const healthcheck: Command = {
  synopsis: '[--admin-listen ADDRESS] [--config FILE]',
  summary: 'exits with 0 if the running proxy is ready, else with 1 and the reason',
  help: '\n  --admin-listen ADDRESS   where the admin listener of the proxy is\n\nFor images without curl: it asks the admin listener, and needs nothing of the configuration but its address.\n',
  examples: ['bearerd healthcheck && echo ready'],
  variables: ['BEARERD_CONFIG', 'BEARERD_ADMIN_LISTEN'],
  options: {},
  settings: ['admin-listen'],
  positionals: [0, 0],
  async run(values) {
    const reasons = await reasonsUnready(await adminAddress(values));
    for (const reason of reasons) complain(reason);
    return reasons.length === 0 ? EXIT.done : EXIT.failed;
  },
};
