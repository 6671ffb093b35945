import { span } from './span.ts';

/** The settings that limit how long a part of a request may take. */
const SETTINGS = {
  connect: 'BEARERD_CONNECT_TIMEOUT (timeouts.connect)',
  response: 'BEARERD_RESPONSE_TIMEOUT (timeouts.response)',
  idle: 'BEARERD_IDLE_TIMEOUT (timeouts.idle)',
  tokenWait: 'BEARERD_TOKEN_WAIT (session.tokenWait)',
} as const;

/** A time limit that has passed, as it was in force: that of the route if the route has its own. */
export interface TimeLimit {
  readonly setting: keyof typeof SETTINGS;
  readonly ms: number;
}

/** Which limit it was, as a sentence. */
export function limitWords({ setting, ms }: TimeLimit): string {
  return `The limit in force was ${span(ms)}, by ${SETTINGS[setting]}.`;
}
