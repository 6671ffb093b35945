import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Test } from 'tap';
import { until } from './raw-client.ts';

/** Why a test of HAProxy is skipped here; false where the program is installed. */
export const NO_HAPROXY =
  spawnSync('haproxy', ['-v']).error === undefined ? false : 'haproxy is not installed here';

/** The real program with this configuration, until it is ready; gives what ends it. */
export async function haproxyFor(t: Test, file: string, ready: () => boolean | Promise<boolean>) {
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const exited = once(child, 'exit');
  t.teardown(() => child.kill('SIGKILL'));
  await until(() => {
    if (child.exitCode !== null) throw new Error(`haproxy ended: ${said}`);
    return ready();
  }, 'haproxy is not ready');
  return {
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
