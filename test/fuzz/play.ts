import type { Socket } from 'node:net';
import type { ScriptedAnswer } from './answer-grammar.ts';

/** Says it piece by piece, and then does what the script says. */
export async function play({ pieces, ending }: ScriptedAnswer, socket: Socket): Promise<void> {
  for (const [n, piece] of pieces.entries()) {
    if (socket.destroyed) return;
    if (piece.length > 0) socket.write(piece);
    if (n < pieces.length - 1) await new Promise(setImmediate);
  }
  if (ending === 'end') socket.end();
  else if (ending === 'reset') socket.resetAndDestroy();
}
