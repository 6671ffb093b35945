import type { Clock } from '../../base/clock.ts';
import type { Event, RequestEvent } from '../../base/events.ts';
import type { Trouble } from './trouble.ts';
import { type Note, troubleIn } from './trouble-words.ts';

/** So many are kept, those that go on before those that are over; and of each so many characters. */
const MOST = 50;
const LONGEST = 2_000;

interface Kept {
  readonly note: Note;
  readonly sinceMonoMs: number;
  lastMonoMs: number;
  times: number;
  /** -1 until something says so. */
  overMonoMs: number;
}

/** What went wrong lately, and what goes on, as events tell it. Requests are not looked at. */
export class Troubles {
  readonly #clock: Clock;
  /** The oldest first. */
  #kept: Kept[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  observe(event: Exclude<Event, RequestEvent>): void {
    const said = troubleIn(event);
    if (said === undefined) return;
    const { note, over } = said;
    const now = this.#clock.monoMs();
    if (over !== undefined) for (const kept of this.#kept) if (over(kept.note.subject)) end(kept, now);
    if (note !== undefined) this.#keep({ ...note, what: note.what.slice(0, LONGEST) }, now);
  }

  /** The same again is told once, with how often. */
  #keep(note: Note, now: number): void {
    const { subject, what } = note;
    const same = this.#kept.find(
      (kept) => kept.overMonoMs === -1 && kept.note.subject === subject && kept.note.what === what,
    );
    if (same !== undefined) {
      same.times++;
      same.lastMonoMs = now;
      return;
    }
    this.#kept.push({ note, sinceMonoMs: now, lastMonoMs: now, times: 1, overMonoMs: -1 });
    if (this.#kept.length > MOST) this.#forgetOne();
  }

  #forgetOne(): void {
    const over = this.#kept.findIndex(({ note, overMonoMs }) => overMonoMs !== -1 || note.lasts !== true);
    this.#kept.splice(Math.max(0, over), 1);
  }

  /**
   * The newest first.
   *
   * @param endOf the end, on the monotonic clock, of something that the events don't tell of; -1 if it goes on
   */
  list(endOf: (subject: string, sinceMonoMs: number) => number): Trouble[] {
    const bootMs = this.#clock.wallMs() - this.#clock.monoMs();
    return this.#kept
      .map((kept) => {
        const { note, sinceMonoMs, lastMonoMs, times } = kept;
        const overMonoMs = kept.overMonoMs === -1 ? endOf(note.subject, lastMonoMs) : kept.overMonoMs;
        return {
          subject: note.subject,
          atMs: bootMs + lastMonoMs,
          sinceMs: bootMs + sinceMonoMs,
          times,
          what: note.what,
          remedy: note.remedy,
          overMs: overMonoMs === -1 ? undefined : bootMs + overMonoMs,
          lasts: note.lasts === true,
        };
      })
      .sort((a, b) => b.atMs - a.atMs);
  }
}

function end(kept: Kept, now: number): void {
  if (kept.overMonoMs === -1) kept.overMonoMs = now;
}
