/** How it stands with one limit, of a route or of a caller. */
export interface LimitStatus {
  readonly route?: string;
  readonly caller?: string;
  /** `60/1m`. */
  readonly limit: string;
  /** Requests that would pass now, one after the other. */
  readonly left: number;
}
