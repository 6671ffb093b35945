import type { Clock } from '../../base/clock.ts';
import { CONTENT_LENGTH, fieldOf } from '../../base/fields.ts';
import type { ReplyHead } from '../client/reply.ts';
import type { Held, HeldRuns } from './held-runs.ts';
import type { KnownSecrets } from './known-secrets.ts';
import { Scrubber, scrubText } from './scrubber.ts';

/** No header line holds it. */
const BETWEEN_LINES = '\n';

/** What the scrubbed answers of a process share. */
export interface ScrubbingContext {
  readonly clock: Clock;
  readonly secrets: KnownSecrets;
  readonly heldRuns: HeldRuns;
}

/** Masks credentials in one answer. */
export class Scrubbing implements Held {
  memberAt = -1;
  readonly #context: ScrubbingContext;
  readonly #released: (parts: readonly Buffer[]) => void;
  #foundInHead = false;
  #scrubber: Scrubber | undefined;

  /** @param released gets bytes that were held long enough; must not throw */
  constructor(context: ScrubbingContext, released: (parts: readonly Buffer[]) => void) {
    this.#context = context;
    this.#released = released;
  }

  get found(): boolean {
    return this.#foundInHead || this.#scrubber?.found === true;
  }

  /** Searches all lines at once, and each of them only if there is a match. */
  head(head: ReplyHead): ReplyHead {
    const { headers } = head;
    const all = headers.join(BETWEEN_LINES);
    if (this.#search(all) === all) return head;
    const scrubbed = [...headers];
    for (let i = 0; i < headers.length; i += 2) {
      if (fieldOf(headers[i]!) === CONTENT_LENGTH) continue; // A short secret may equal the number.
      scrubbed[i] = this.text(headers[i]!);
      scrubbed[i + 1] = this.text(headers[i + 1]!);
    }
    return { ...head, headers: scrubbed };
  }

  /** @param text each character is a byte */
  text(text: string): string {
    const scrubbed = this.#search(text);
    if (scrubbed !== text) this.#foundInHead = true;
    return scrubbed;
  }

  /** @returns what may be passed on of the body so far */
  pass(piece: Buffer): readonly Buffer[] {
    const { clock, secrets, heldRuns } = this.#context;
    this.#scrubber ??= new Scrubber(secrets.searcher);
    // The rest of a long answer, events say, may hold a token that is newer than its beginning.
    this.#scrubber.use(secrets.searcher);
    const passes = this.#scrubber.push(piece, clock.monoMs());
    if (this.dueMonoMs !== undefined) heldRuns.add(this);
    return passes;
  }

  /** The body has ended. @returns what was held back */
  rest(): readonly Buffer[] {
    this.close();
    return this.#scrubber?.end() ?? [];
  }

  /** Releases nothing any more. */
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
