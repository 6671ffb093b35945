import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RedisServer } from '../support/redis.ts';
import { SECRET_CANARY, TOKEN_CANARY } from './issuer.ts';

/** The middle of the canary in base64, for each of the three alignments. */
function base64Cores(canary: string): string[] {
  return [0, 1, 2].map((offset) =>
    Buffer.from('x'.repeat(offset) + canary)
      .toString('base64')
      .slice(4, 20),
  );
}

const FORMS = [TOKEN_CANARY, SECRET_CANARY].flatMap((canary) =>
  [canary, Buffer.from(canary).toString('hex'), ...base64Cores(canary)].map(
    (form) => [canary, form] as const,
  ),
);

/** Looks for tokens and secrets in all commands to the engine, and in the files that it writes. */
export class LeakWatch {
  bytes = 0;
  readonly found = new Set<string>();
  readonly #redis: RedisServer;
  #stop = () => {};

  constructor(redis: RedisServer) {
    this.#redis = redis;
  }

  /** Call it after each start of the engine. */
  async listen(): Promise<void> {
    const { socket } = await this.#redis.monitor();
    let end = '';
    socket.removeAllListeners('data').on('data', (chunk: Buffer) => {
      this.bytes += chunk.length;
      const text = end + chunk.toString('latin1');
      this.#scan(text, 'MONITOR');
      end = text.slice(-64);
    });
    this.#stop = () => socket.destroy();
  }

  async scanFiles(): Promise<void> {
    await this.#redis.command('SAVE');
    const files = readdirSync(this.#redis.folder, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile()))
      this.#scan(readFileSync(join(file.parentPath, file.name), 'latin1'), file.name);
  }

  stop(): void {
    this.#stop();
  }

  #scan(text: string, where: string): void {
    for (const [canary, form] of FORMS) if (text.includes(form)) this.found.add(`${where}: ${canary}`);
  }
}
