import { refusal, session } from '../faults/issuer.ts';
import { head } from '../support/raw-upstream.ts';

/** Answers of a failing session endpoint. */
export const ODD_ANSWERS = {
  busy: () => refusal('429 Too Many Requests', 'retry-after: 2'),
  failing: () => refusal('500 Oops'),
  page: () => session('<html>'),
  cut: () => `${head('200 OK', 'content-length: 90', 'connection: close')}{"accessToken":"abc`,
  empty: () => session({ expires_in: 3600 }),
  evil: () => session({ accessToken: 'a\r\nx-evil: 1', expires_in: 3600 }),
  huge: () => session({ accessToken: 'a'.repeat(1 << 20), expires_in: 3600 }),
} as const;
