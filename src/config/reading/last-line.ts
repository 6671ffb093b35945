import { CONTROLS, INVISIBLE } from '../../base/invisible.ts';

/** More of one line is not kept, and a line that is cut off is not shown: a part of a secret can't be recognised. */
const MOST_BYTES = 64 * 1024;
const MOST_CHARACTERS = 200;
/** A line of a secret that has several may be written alone; a shorter one is in many a text by chance. */
const SHORTEST_LINE = 8;
/** What acts on a terminal, or on a reader, in place of being seen. */
const UNSEEN = new RegExp(`[${CONTROLS}${INVISIBLE}]`, 'g');

/** The last line of what a command writes. */
export class LastLine {
  #kept = Buffer.alloc(0);
  #isCut = false;

  add(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#kept, chunk]);
    this.#isCut ||= all.length > MOST_BYTES;
    this.#kept = all.subarray(-MOST_BYTES);
  }

  /**
   * Its first characters; empty where there is nothing to show.
   *
   * @param secrets what may not be in it
   */
  shown(secrets: Iterable<string>): string {
    const [first = '', ...others] = this.#kept.toString('utf8').split(/[\r\n]+/);
    const whole = this.#isCut ? others : [first, ...others];
    const last = whole.findLast((line) => line.trim() !== '') ?? '';
    const parts = [...secrets]
      .flatMap((secret) => [secret, ...linesOf(secret)])
      .filter((part) => part !== '');
    const sought = [...new Set(parts)].sort((a, b) => b.length - a.length);
    // Before it is cut: what is left of a secret at its end would be shown.
    const struck = sought.reduce((line, part) => line.replaceAll(part, '***'), last);
    return [...struck.replace(UNSEEN, ' ').trim()].slice(0, MOST_CHARACTERS).join('');
  }
}

function linesOf(secret: string): string[] {
  return secret.split(/[\r\n]+/).filter((line) => line.length >= SHORTEST_LINE);
}
