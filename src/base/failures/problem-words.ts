import { OutboundProxyError } from '../errors.ts';
import { LoginError } from '../login-error.ts';
import type { Problem } from '../problem.ts';
import { otherNames } from './certificate-names.ts';

/** What happened, with the system's code if there is one. Never holds a byte of an answer or a library's message. */
export function inWords({ message, cause }: Problem): string {
  if (cause instanceof OutboundProxyError) return `${cause.message}.`; // bearerd's own text, which names the proxy.
  const code = systemCode(cause);
  return code === undefined ? message : `${message.replace(/\.$/, '')}${otherNames(cause)} (${code}).`;
}

/** What to do about a problem. The message of a failed login says it. */
export function remedyOf({ remedy, cause }: Problem): string | undefined {
  return remedy ?? (cause instanceof LoginError ? sentence(cause.message) : undefined);
}

function systemCode(cause: unknown): string | undefined {
  const { code, cause: inner } = (cause ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : undefined;
  return inner === undefined ? undefined : systemCode(inner);
}

/** A text as a sentence of its own. */
export function sentence(text: string): string {
  const capital = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
