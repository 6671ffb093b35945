/** The state of one limit, of a route or of a caller. */
export interface LimitStatus {
  readonly route?: string;
  readonly caller?: string;
  /** `60/1m`. */
  readonly limit: string;
  /** How many requests would pass now. */
  readonly left: number;
}
