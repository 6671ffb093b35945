import { createHash, randomBytes } from 'node:crypto';
import { request } from '../support/gateway.ts';
import { PATIENCE_MS, RawClient, type RawResponse, within } from '../support/raw-client.ts';
import { ALL_EVENTS, BODY } from './ledger.ts';

export const KINDS = ['GET', 'POST of 1 MiB', 'events', 'upgrade'] as const;
export type Kind = (typeof KINDS)[number];

/** The one thing that came of a request, as its client saw it. */
export interface Outcome {
  readonly id: string;
  readonly kind: Kind;
  /** 0 where the connection ended without an answer. */
  readonly status: number;
  /** The answer, or the tunnel, was all there, as far as the client can know. */
  readonly whole: boolean;
  /** And it was what the upstream has to say, byte for byte. */
  readonly right: boolean;
  readonly code: string | undefined;
  readonly retryAfterS: number;
  readonly tookMs: number;
}

export const UPLOAD: Buffer = randomBytes(1 << 20);
export const UPLOAD_DIGEST: string = createHash('sha256').update(UPLOAD).digest('hex');
const ECHO = randomBytes(64 * 1024);

let visits = 0;

export interface Visit {
  readonly where: number | string;
  readonly kind: Kind;
  /** Put into the path: `chunked` asks for an answer without a length. */
  readonly flavour?: string;
  readonly body?: Buffer;
  readonly client?: RawClient;
}

/** One request on a connection of its own, with a name that it has in the ledger, too. */
export async function visit({ where, kind, flavour = '', body, client: given }: Visit): Promise<Outcome> {
  const id = `v-${++visits}`;
  const began = performance.now();
  const client = given ?? (await RawClient.to(where, { keep: false }));
  const head = headOf(kind, id, flavour, body ?? UPLOAD);
  client.send(head);
  if (kind === 'POST of 1 MiB') client.send(body ?? UPLOAD);
  const outcome = (status: number, whole: boolean, right: boolean, response?: RawResponse): Outcome => ({
    id,
    kind,
    status,
    whole,
    right,
    code: /"code":\s*"([a-z-]+)"/.exec(response?.text ?? '')?.[1],
    retryAfterS: Number(response?.header('retry-after') ?? 0),
    tookMs: performance.now() - began,
  });
  try {
    const response = await within(PATIENCE_MS, client.response(), () => `${kind} ${id}: no answer`);
    if (response.status === 101) {
      const right = await echoes(client);
      return outcome(101, right, right);
    }
    const expected = kind === 'events' ? ALL_EVENTS : BODY;
    return outcome(response.status, response.whole, response.body.equals(expected), response);
  } catch (error) {
    // The end of a connection is an outcome; a client that waits for ever has found a fault.
    if (!/ended without an answer/.test(String(error))) throw error;
    return outcome(0, false, false);
  } finally {
    if (given === undefined) client.close();
  }
}

function headOf(kind: Kind, id: string, flavour: string, body: Buffer): string {
  const path = `/${kind === 'events' ? 'events' : 'thing'}${flavour}`;
  if (kind === 'POST of 1 MiB') return request('POST', path, `x-id: ${id}`, `content-length: ${body.length}`);
  if (kind !== 'upgrade') return request('GET', path, `x-id: ${id}`);
  return request('GET', path, `x-id: ${id}`, 'connection: upgrade', 'upgrade: echo');
}

/** Whether what goes into the tunnel comes back out of it; false where it ends before. */
async function echoes(client: RawClient): Promise<boolean> {
  client.send(ECHO);
  const back = await within(PATIENCE_MS, client.bytes(ECHO.length), () => 'no echo').catch(() => '');
  client.halfClose();
  return back === ECHO.toString('latin1');
}
