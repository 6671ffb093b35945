import type { Clock } from '../../base/clock.ts';
import { CONTENT_LENGTH, type FieldLines, fieldOf } from '../../base/fields.ts';
import type { ReplyHead } from '../client/reply.ts';
import type { Held, HeldRuns } from './held-runs.ts';
import type { KnownSecrets } from './known-secrets.ts';
import { Scrubber, scrubText } from './scrubber.ts';

/** No value holds it. */
const BETWEEN_LINES = '\n';

/** What all answers of one process share that are scrubbed. */
export interface ScrubbingContext {
  readonly clock: Clock;
  readonly secrets: KnownSecrets;
  readonly heldRuns: HeldRuns;
}

/** What becomes of one request's answer, so that no credential comes back in it. */
export class Scrubbing implements Held {
  memberAt = -1;
  readonly #context: ScrubbingContext;
  readonly #released: (parts: readonly Buffer[]) => void;
  #foundInHead = false;
  #scrubber: Scrubber | undefined;

  /** @param released gets what has been held for long enough; must not throw */
  constructor(context: ScrubbingContext, released: (parts: readonly Buffer[]) => void) {
    this.#context = context;
    this.#released = released;
  }

  /** Something was struck out. */
  get found(): boolean {
    return this.#foundInHead || this.#scrubber?.found === true;
  }

  /** All lines are searched at once, and one by one only where that finds something. */
  head(head: ReplyHead): ReplyHead {
    const { headers } = head;
    const all = headers.join(BETWEEN_LINES);
    if (this.#search(all) === all) return head;
    const scrubbed = [...headers];
    for (let i = 0; i < headers.length; i += 2) {
      if (fieldOf(headers[i]!) === CONTENT_LENGTH) continue; // A number that a short secret may well be like.
      scrubbed[i] = this.text(headers[i]!);
      scrubbed[i + 1] = this.text(headers[i + 1]!);
    }
    return { ...head, headers: scrubbed };
  }

  /** Each character a byte. */
  text(text: string): string {
    const scrubbed = this.#search(text);
    if (scrubbed !== text) this.#foundInHead = true;
    return scrubbed;
  }

  /** What may go on of the body so far. */
  pass(piece: Buffer): readonly Buffer[] {
    const { clock, secrets, heldRuns } = this.#context;
    this.#scrubber ??= new Scrubber(secrets.searcher);
    // A token that has come since may be shown, too: by events that go on for hours.
    if (this.#scrubber.searcher !== secrets.searcher) this.#scrubber = this.#scrubber.with(secrets.searcher);
    const passes = this.#scrubber.push(piece, clock.monoMs());
    if (this.dueMonoMs !== undefined) heldRuns.add(this);
    return passes;
  }

  /** What was held back at the end of the body. */
  rest(): readonly Buffer[] {
    this.close();
    return this.#scrubber?.end() ?? [];
  }

  /** Nothing more is wanted of it. */
  close(): void {
    this.#context.heldRuns.delete(this);
  }

  get dueMonoMs(): number | undefined {
    return this.#scrubber?.dueMonoMs;
  }

  release(nowMonoMs: number): void {
    const parts = this.#scrubber?.release(nowMonoMs) ?? [];
    if (parts.length > 0) this.#released(parts);
  }

  #search(text: string): string {
    return scrubText(this.#context.secrets.searcher, text);
  }
}

/** True for a body that can't be searched, though `identity` was asked for. */
export function isCoded({ pairs, fields }: FieldLines): boolean {
  return fields.some((_, i) => {
    if (pairs[2 * i]!.toLowerCase() !== 'content-encoding') return false;
    return pairs[2 * i + 1]!.split(',').some((coding) => !/^(?:identity)?$/i.test(coding.trim()));
  });
}
