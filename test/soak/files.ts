import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Lifetime } from '../support/lifetime.ts';

/** The configuration file and the secret file of the program. */
export class Files {
  readonly configuration: string;
  readonly #secret: string;
  readonly #text: string;
  #changes = 0;

  private constructor(folder: string, text: string) {
    this.configuration = join(folder, 'bearerd.yaml');
    this.#secret = join(folder, 'secret');
    this.#text = text;
  }

  static for(
    t: Lifetime,
    { baseUrl, upstream, session }: Record<'baseUrl' | 'upstream' | 'session', string>,
  ): Files {
    const folder = mkdtempSync(join(tmpdir(), 'bearerd-soak-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const files = new Files(
      folder,
      `
baseUrl: ${baseUrl}
upstreamAddress: '${upstream}'
listen: 127.0.0.1:0
admin: { listen: '127.0.0.1:0' }
credentials:
  token: { type: session, clientId: sa, clientSecret: { file: secret }, baseUrl: '${session}', origins: ['${baseUrl}'] }
routes:
  - { prefix: /odd, credential: token }
  - { prefix: /, credential: token }
`,
    );
    files.rotate();
    files.change();
    return files;
  }

  /** Writes another valid configuration. */
  change(): void {
    writeFileSync(this.configuration, `${this.#text}limits: { waiting: ${900 + (++this.#changes % 100)} }\n`);
  }

  spoil(): void {
    writeFileSync(this.configuration, `${this.#text}nonsense: true\n`);
  }

  /** Writes a new secret, with which bearerd logs in at once. */
  rotate(): void {
    writeFileSync(this.#secret, `secret-${++this.#changes}`);
  }
}
