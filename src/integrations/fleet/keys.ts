import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Secret } from '../../base/secret.ts';
import type { Names } from './engine.ts';

/** What makes two instances share a token: only instances of one account know all of it. */
export interface Account {
  /** Endpoint, account, scope: all that decides which token a login gives. Only used to derive keys. */
  readonly identity: Secret;
  /** The account's secret and `share.key`, as far as they exist; at least one. */
  readonly secrets: readonly Secret[];
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals and opens values, and names the engine's keys, for one account. This needs the account's secret. A name reveals
 * neither the account nor the secret.
 */
export class AccountKeys {
  readonly names: Names;
  readonly #seal: Buffer;
  readonly #mark: Buffer;

  constructor(account: Account, prefix: string) {
    // As JSON, so that the secrets "ab" and "c" differ from "a" and "bc".
    const material = Secret.json(account.secrets).expose();
    const identity = account.identity.expose();
    const derive = (purpose: string) =>
      Buffer.from(hkdfSync('sha256', material, identity, `bearerd ${VERSION} ${purpose}`, 32));
    this.#seal = derive('seal');
    this.#mark = derive('mark');
    this.names = namesOf(prefix, derive('name').toString('hex').slice(0, 32));
  }

  /** `<generation>.<nonce, tag and ciphertext>`. The value can be opened only at the same engine key. */
  seal(key: string, generation: number, value: unknown): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#seal, nonce).setAAD(contextOf(key, generation));
    const text = Buffer.concat([cipher.update(Secret.json(value).expose(), 'utf8'), cipher.final()]);
    return `${generation}.${Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')}`;
  }

  /** The generation and the value; undefined if no instance of this account has sealed the text for this engine key. */
  open(key: string, text: string): { readonly generation: number; readonly value: unknown } | undefined {
    const [, digits, sealed = ''] = /^(0|[1-9]\d{0,14})\.([\w-]+)$/.exec(text) ?? [];
    const bytes = Buffer.from(sealed, 'base64url');
    if (digits === undefined || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const generation = Number(digits);
    try {
      const decipher = createDecipheriv('aes-256-gcm', this.#seal, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      })
        .setAAD(contextOf(key, generation))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      const plain = Buffer.concat([text, decipher.final()]).toString('utf8');
      return { generation, value: JSON.parse(plain) };
    } catch {
      return undefined; // Forged, changed, or sealed for another account.
    }
  }

  /** By its mark a token is retired. Only an instance that has the token can compute the mark. */
  markOf(token: Secret): string {
    const mark = createHmac('sha256', this.#mark);
    token.addTo(mark);
    return mark.digest('base64url').slice(0, 22);
  }
}

/** The braces are a hash tag of Redis Cluster: it keeps the keys of one account in one slot. */
function namesOf(prefix: string, id: string): Names {
  const name = (part: string) => `${prefix}:{${id}}:${part}`;
  return {
    token: name('token'),
    hold: name('hold'),
    lock: name('lock'),
    retired: name('retired'),
    floor: name('floor'),
    channel: name('news'),
  };
}

function contextOf(key: string, generation: number): Buffer {
  return Buffer.from(`bearerd ${VERSION} ${generation} ${key}`);
}
