/** Sizes and times that both sides of bearerd share. */
export const RATE: number = 500;
export const TOKEN_LIFE_MS = 4_000;
export const EVENTS = 5;
export const BIG: Buffer = Buffer.alloc(2 << 20, 'x');

export function eventOf(id: string): string {
  return `data: ${id}\n\n`;
}

/** Timeouts of bearerd: short, so that requests delayed by a fault end soon after it. */
export const LIMITS = {
  BEARERD_TOKEN_WAIT: '2s',
  BEARERD_CONNECT_TIMEOUT: '2s',
  BEARERD_RESPONSE_TIMEOUT: '2s',
  BEARERD_IDLE_TIMEOUT: '2s',
} as const;
