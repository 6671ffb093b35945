import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import type { Test } from 'tap';
import { until } from './raw-client.ts';

const RELAY = `
const { connect, createServer } = require('node:net');
const server = createServer((client) => {
  const upstream = connect(Number(process.argv[1]), '127.0.0.1');
  for (const socket of [client, upstream]) socket.on('error', () => { client.destroy(); upstream.destroy(); });
  client.pipe(upstream).pipe(client);
});
server.listen({ host: '127.0.0.2', port: 0, backlog: 1 }, () => console.log(server.address().port));
`;

/**
 * Another address, 127.0.0.2, of what listens on a port of 127.0.0.1. While it stalls it takes no connection and
 * refuses none: the process stands still, and its queue is full. What asks meanwhile is asked again by the kernel a
 * second later.
 */
export class StallingRelay {
  readonly port: number;
  readonly #signal: (signal: NodeJS.Signals) => void;
  #queue: Socket[] = [];

  private constructor(port: number, signal: (signal: NodeJS.Signals) => void) {
    this.port = port;
    this.#signal = signal;
  }

  static async startedFor(t: Test, port: number): Promise<StallingRelay> {
    const child = spawn(process.execPath, ['-e', RELAY, `${port}`], { stdio: ['ignore', 'pipe', 'inherit'] });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await until(() => said.endsWith('\n'), 'the relay does not listen');
    const relay = new StallingRelay(Number(said), (signal) => child.kill(signal));
    t.teardown(async () => {
      for (const socket of relay.#queue) socket.destroy();
      child.kill('SIGKILL');
      await exited;
    });
    return relay;
  }

  async stall(): Promise<void> {
    this.#signal('SIGSTOP');
    let queued = 0;
    this.#queue = Array.from({ length: 4 }, () =>
      connect(this.port, '127.0.0.2', () => queued++).on('error', () => {}),
    );
    // One more than its backlog; the others find it full.
    await until(() => queued >= 2, 'the queue does not fill');
  }

  goOn(): void {
    for (const socket of this.#queue) socket.destroy();
    this.#signal('SIGCONT');
  }
}
