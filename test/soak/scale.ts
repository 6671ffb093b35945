/** How large and how long things are: what both sides of bearerd have to know. */
export const RATE: number = 500;
export const TOKEN_LIFE_MS = 4_000;
export const EVENTS = 5;
export const BIG: Buffer = Buffer.alloc(2 << 20, 'x');

export function eventOf(id: string): string {
  return `data: ${id}\n\n`;
}

/** bearerd's own limits: short, so that whatever a fault has held up is over soon after it. */
export const LIMITS = {
  BEARERD_TOKEN_WAIT: '2s',
  BEARERD_CONNECT_TIMEOUT: '2s',
  BEARERD_RESPONSE_TIMEOUT: '2s',
  BEARERD_IDLE_TIMEOUT: '2s',
} as const;
