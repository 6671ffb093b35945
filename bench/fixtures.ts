import { createCipheriv } from 'node:crypto';

/** What is sent and answered: known to the load on one side and to the upstream on the other. */
export const TOKEN = jwtLike();
export const CA_FILE = new URL('../test/support/tls/ca.pem', import.meta.url);

export const PATHS = {
  session: '/api/identity/v1/session',
  small: '/api/people/v1/o_1/find',
  /** Takes 8 KiB. */
  many: '/api/people/v1/o_1/find-many',
  large: '/api/files/v1/large',
  middle: '/api/files/v1/middle',
  /** Says what the upstream saw, in full. */
  verify: '/api/verify',
} as const;

/** As long as a token is that identity services issue: some claims, and a signature by RSA of 2,048 bits. */
function jwtLike(): string {
  const claims = {
    iss: 'https://id.example.com',
    sub: 'sa_1',
    aud: 'data',
    iat: 1_790_000_000,
    exp: 1_790_003_600,
  };
  const parts = [Buffer.from('{"alg":"RS256","typ":"JWT"}'), Buffer.from(JSON.stringify(claims)), noise(256)];
  return parts.map((part) => part.toString('base64url')).join('.');
}

/** Bytes that look like no pattern, and are the same in each process. */
function noise(length: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16, 7), Buffer.alloc(16)).update(Buffer.alloc(length));
}

/** 300 bytes of JSON. */
export const SMALL = Buffer.from(`{"data":"${'x'.repeat(289)}"}`);
/** 1 KB of JSON. */
export const JSON_BODY = Buffer.from(`{"text":"${'y'.repeat(1_013)}"}`);
/** 8 KiB of JSON. */
export const JSON_BODY_8K = Buffer.from(`{"text":"${'y'.repeat(8_181)}"}`);
/** 100 KB. */
export const MIDDLE = noise(100_000);
/** 10 MB. */
export const LARGE = noise(10_000_000);
