import { setTimeout as sleep } from 'node:timers/promises';
import { UsageError } from '../base/errors.ts';
import { parseDuration } from '../config/values/measures.ts';
import { adminAddress } from './admin-address.ts';
import { reasonsUnready } from './admin-client.ts';
import { type Command, complain, textOption } from './command.ts';
import { EXIT } from './exit-codes.ts';

const INTERVAL_MS = 100;

export const wait: Command = {
  synopsis: '[--timeout 60s] [--admin-listen ADDRESS] [--config FILE]',
  summary: 'exits with 0 as soon as the running proxy is ready, with 1 at the timeout',
  help: '\n  --timeout 60s            how long to wait\n  --admin-listen ADDRESS   where the admin listener of the proxy is\n\nIt needs nothing of the configuration but that address, and says on stderr what it waits for, and at the end "ready".\n',
  examples: ['bearerd wait --timeout 30s && ./start-my-program'],
  variables: ['BEARERD_CONFIG', 'BEARERD_ADMIN_LISTEN'],
  options: { timeout: { type: 'string' } },
  settings: ['admin-listen'],
  positionals: [0, 0],
  async run(values) {
    const limitMs = timeoutOf(textOption(values, 'timeout') ?? '60s');
    const address = await adminAddress(values);
    const deadline = performance.now() + limitMs;
    let told = '';
    for (;;) {
      const reasons = await reasonsUnready(address);
      if (reasons.length === 0) {
        complain('ready');
        return EXIT.done;
      }
      // Each is told once, and not at each second of its countdown.
      const news = reasons.join('\n').replace(/\d+ s\.$/gm, '');
      if (news !== told) for (const reason of reasons) complain(`waiting: ${reason}`);
      told = news;
      if (performance.now() >= deadline) {
        complain(`not ready within ${limitMs / 1000} s`);
        return EXIT.failed;
      }
      await sleep(Math.min(INTERVAL_MS, Math.max(1, deadline - performance.now())));
    }
  },
};

function timeoutOf(text: string): number {
  const parsed = parseDuration(text);
  if ('problem' in parsed) throw new UsageError(`--timeout ${text}: ${parsed.problem}`);
  return parsed.value;
}
