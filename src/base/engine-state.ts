/** The state of the connection to the engine of a fleet; `/status` and `/readyz` show it as `share`. */
export type EngineState =
  | { readonly state: 'connecting' | 'ready' }
  /** `reason` is a code, never a text of a library or of the engine. */
  | { readonly state: 'gone'; readonly reason: string };
