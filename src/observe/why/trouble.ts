/** Something that went wrong, or was changed, and what came of it. Moments are on the wall clock. */
export interface Trouble {
  /** What it is about: of what lasts, the newest of one subject counts. */
  readonly subject: string;
  /** The last time. */
  readonly atMs: number;
  /** The first time. */
  readonly sinceMs: number;
  readonly times: number;
  /** In sentences. */
  readonly what: string;
  /** What to do about it; undefined if nothing has to be done. */
  readonly remedy?: string | undefined;
  /** When it was over; undefined if that is not known, or if it has no length. */
  readonly overMs?: number | undefined;
  /** It goes on until something says that it is over. */
  readonly lasts: boolean;
}
