import { CONTROLS, INVISIBLE } from '../../base/invisible.ts';

/** Most that is kept of one line. A longer line is not shown, because part of a secret can't be recognized in it. */
const MOST_BYTES = 64 * 1024;
const MOST_CHARACTERS = 200;
/** A program may write one line of a secret of several lines. A shorter line occurs in other texts by chance. */
const SHORTEST_LINE = 8;
/** Characters that change a terminal, or can't be seen. */
const UNSEEN = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'g');

/** Keeps the last line that a command writes. */
export class LastLine {
  #kept = Buffer.alloc(0);
  #isCut = false;

  add(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#kept, chunk]);
    this.#isCut ||= all.length > MOST_BYTES;
    this.#kept = all.subarray(-MOST_BYTES);
  }

  /**
   * Its first characters; empty if there is nothing to show.
   *
   * @param secrets are replaced by asterisks
   */
  shown(secrets: Iterable<string>): string {
    const [first = '', ...others] = this.#kept.toString('utf8').split(/[\r\n]+/);
    const whole = this.#isCut ? others : [first, ...others];
    const last = whole.findLast((line) => line.trim() !== '') ?? '';
    const parts = [...secrets]
      .flatMap((secret) => [secret, ...linesOf(secret)])
      .filter((part) => part !== '');
    const sought = [...new Set(parts)].sort((a, b) => b.length - a.length);
    // Before the line is cut, since the cut would leave part of a secret that is not recognized.
    const struck = sought.reduce((line, part) => line.replaceAll(part, '***'), last);
    return [...struck.replace(UNSEEN, ' ').trim()].slice(0, MOST_CHARACTERS).join('');
  }
}

function linesOf(secret: string): string[] {
  return secret.split(/[\r\n]+/).filter((line) => line.length >= SHORTEST_LINE);
}
