import { createCipheriv } from 'node:crypto';

/** What is sent and answered: known to the load on one side and to the upstream on the other. */
export const TOKEN = 'bench-token';
export const CA_FILE = new URL('../test/support/tls/ca.pem', import.meta.url);

export const PATHS = {
  session: '/api/identity/v1/session',
  small: '/api/people/v1/o_1/find',
  large: '/api/files/v1/large',
  /** Says what the upstream saw, in full. */
  verify: '/api/verify',
} as const;

/** Bytes that look like no pattern, and are the same in each process. */
function noise(length: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16)).update(Buffer.alloc(length));
}

/** 300 bytes of JSON. */
export const SMALL = Buffer.from(`{"data":"${'x'.repeat(289)}"}`);
/** 1 KB of JSON. */
export const JSON_BODY = Buffer.from(`{"text":"${'y'.repeat(1_013)}"}`);
/** 10 MB. */
export const LARGE = noise(10_000_000);
