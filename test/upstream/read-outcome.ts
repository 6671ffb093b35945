import { ResponseFault } from '../../src/upstream/head-scanner.ts';
import { type ResponseEvents, ResponseReader } from '../../src/upstream/response-reader.ts';

export interface Asked {
  readonly method?: string;
  /** The request wants to switch protocols. */
  readonly upgrade?: boolean;
  readonly limitBytes?: number;
}

/**
 * What the reader makes of bytes that come in these pieces, and then of the connection's end, on one line:
 * `200 Fine | a: 1, b: 2 | body | whole, keeps`. Pieces of the body are joined, so that cuts make no difference.
 */
export function outcome(
  pieces: readonly Buffer[],
  { method = 'GET', upgrade = false, limitBytes = 1024 }: Asked = {},
): string {
  const said: string[] = [];
  let body = '';
  let end = '';
  const events: ResponseEvents = {
    head: ({ status, reason, lines: { pairs } }) => said.push(headText(status, reason, pairs)),
    body: (piece) => {
      body += piece.toString('latin1');
    },
    finished: () => {
      end = `whole, ${reader.keepsAlive ? 'keeps' : 'closes'}`;
    },
    switched: ({ status, reason, lines: { pairs } }, early) => {
      said.push(headText(status, reason, pairs));
      body += early.toString('latin1');
      end = 'switched';
    },
  };
  const reader = new ResponseReader(events, limitBytes);
  reader.expect(method, upgrade);
  try {
    for (const piece of pieces) {
      if (end.startsWith('whole'))
        end = 'whole, closes'; // Nobody has asked for what comes now.
      else if (end === 'switched') body += piece.toString('latin1');
      else reader.read(Buffer.from(piece)); // Its own copy: chunks are decoded in place.
    }
    if (end === '') end = reader.finish() ? end : 'broken off';
  } catch (error) {
    if (!(error instanceof ResponseFault)) throw error;
    end = 'fault';
  }
  return [...said, body, end].join(' | ');
}

function headText(status: number, reason: string, pairs: readonly string[]): string {
  const lines = pairs.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${pairs[i + 1]}`] : []));
  return `${status} ${reason} | ${lines.join(', ')}`;
}

/** All ways to cut bytes in two, then byte by byte. */
export function* cuts(bytes: Buffer): Generator<Buffer[]> {
  for (let at = 1; at < bytes.length; at++) yield [bytes.subarray(0, at), bytes.subarray(at)];
  yield Array.from(bytes, (_, i) => bytes.subarray(i, i + 1));
}
