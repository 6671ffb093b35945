import type { ChildProcess } from 'node:child_process';
import type { Test } from 'tap';
import type { HostLog } from '../../src/observe/host-log.ts';

/** The words of the log, in lines for machines and for people, and to a host's logger. */
const WORDS = 'internal error: please report it';

/** Fails where a process of ours has said that something of ours went wrong. */
export function assertNoInternalError(said: string): void {
  if (said.includes(WORDS)) throw new Error(`an internal error: ${said}`);
}

/**
 * What a process says, as it comes. It is killed with the test, and may have told of no internal error by then.
 *
 * @param child with pipes for stdout, stderr or both
 */
export function saidBy(t: Test, child: ChildProcess): () => string {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const closed = new Promise((resolve) => child.once('close', resolve));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await closed;
    assertNoInternalError(said);
  });
  return () => said;
}

/** For a proxy within this process: a logger that keeps what it is told, of which nothing may be an internal error. */
export function hostLogFor(t: Test): HostLog {
  const errors: string[] = [];
  t.teardown(() => assertNoInternalError(errors.join('\n')));
  const nothing = () => {};
  return {
    info: nothing,
    warn: nothing,
    error: (fields, message) => errors.push(`${message} ${JSON.stringify(fields)}`),
  };
}
