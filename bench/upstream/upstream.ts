import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { CA_FILE } from '../fixtures.ts';

/** Where a contender forwards to. */
export interface Origin {
  readonly host: string;
  readonly port: number;
  /** The private authority that signed its certificate; undefined without TLS. */
  readonly caFile: string | undefined;
}

export interface Counts {
  readonly connections: number;
  readonly handshakes: number;
  readonly requests: number;
}

/** The upstream's process, seen from outside. */
export class Upstream {
  readonly plain: Origin;
  readonly secure: Origin;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, { port, tlsPort }: { port: number; tlsPort: number }) {
    this.#child = child;
    this.plain = { host: '127.0.0.1', port, caFile: undefined };
    this.secure = { host: '127.0.0.1', port: tlsPort, caFile: fileURLToPath(CA_FILE) };
  }

  static async start(): Promise<Upstream> {
    const child = fork(fileURLToPath(new URL('main.ts', import.meta.url)), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const [ports] = await once(child, 'message');
    return new Upstream(child, ports);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** All since its start. */
  async counts(): Promise<Counts> {
    this.#child.send('counts');
    const [counts] = await once(this.#child, 'message');
    return counts;
  }

  stop(): void {
    this.#child.disconnect();
  }
}
