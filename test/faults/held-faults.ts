import type { Held } from './fault.ts';

// What needs a process of its own, a signal or a full disk. Each is made by a test elsewhere; where that isn't the
// fault itself, it is said why it can't be, and what is.

const SERVING = 'test/cli/serving.test.ts';

export const HELD_FAULTS: readonly Held[] = [
  {
    number: 13,
    title: 'the upstream answers no packet from the start',
    file: 'test/app/explains-failure.test.ts',
    test: 'a connection that is not made in time gives 504',
    because:
      'to drop packets needs a network namespace, and so privileges: a stopped listener with a full queue answers none either',
  },
  {
    number: 24,
    title: "the upstream's authority changes, and the file with it",
    file: 'test/app/secures.test.ts',
    test: 'a reload applies a new CA file, without a restart',
  },
  {
    number: 34,
    title: 'SIGTERM while requests are under way',
    file: SERVING,
    test: 'after SIGTERM a request under way finishes, no new one is accepted, and the exit code is 0',
  },
  {
    number: 34,
    title: 'SIGTERM twice, and past the drain timeout',
    file: SERVING,
    test: 'requests cut off at the drain timeout are logged and exit 1; a second signal stops at once',
  },
  {
    number: 34,
    title: 'SIGTERM in the middle of a login',
    file: SERVING,
    test: 'SIGTERM ends an idle process at once even while a login hangs',
  },
  {
    number: 35,
    title: 'SIGKILL, and the socket that it leaves',
    file: SERVING,
    test: 'a Unix socket has mode 0600; a stale socket is replaced, a live one is not',
  },
  {
    number: 36,
    title: 'SIGHUP, with a good and with a faulty configuration',
    file: SERVING,
    test: 'SIGHUP applies a valid configuration without losing a request, and refuses a faulty one',
  },
  {
    number: 37,
    title: 'stdout has no reader',
    file: SERVING,
    test: 'a closed stdout and a full pipe do not stop the proxy',
  },
  {
    number: 38,
    title: 'the disk of the log is full',
    file: SERVING,
    test: 'a log that cannot be written does not delay the stop: a full disk, a pipe without a reader',
  },
  {
    number: 39,
    title: 'no more files can be opened',
    file: 'test/cli/pressure.test.ts',
    test: 'at the limit of open files further clients get 503, and the admin listener answers',
  },
  {
    number: 40,
    title: 'there is little memory',
    file: 'test/faults/process.test.ts',
    test: 'with a heap of 64 MiB it serves, or says that it does not, and lives on',
    because: 'ten minutes of load are the soak; here it is some seconds',
  },
  {
    number: 41,
    title: 'the process is stopped for a while',
    file: 'test/faults/process.test.ts',
    test: 'a process that was stopped sends no token that has ended meanwhile, and does not storm',
  },
  {
    number: 42,
    title: 'the clock is set, for weeks of it',
    file: 'test/tokens/chaos.test.ts',
    test: 'simulated weeks the source recovers from each failure, gives no dead token, and refuses no request without need',
  },
  {
    number: 44,
    title: 'the address is taken',
    file: 'test/cli/commands.test.ts',
    test: 'an address in use exits 71 with one line',
  },
  {
    number: 44,
    title: 'the address may not be had',
    file: 'test/cli/commands.test.ts',
    test: 'an address that cannot be listened on is shown as configured, with the reason',
  },
];
