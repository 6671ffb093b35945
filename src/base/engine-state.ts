/** How the connection to the engine of a fleet stands: what `/status` and `/readyz` show as `share`. */
export type EngineState =
  | { readonly state: 'connecting' | 'ready' }
  /** `reason` is a code, and holds nothing that a library or the engine has said. */
  | { readonly state: 'gone'; readonly reason: string };
