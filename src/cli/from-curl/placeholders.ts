import { UsageError } from '../../base/errors.ts';
import type { Questions } from '../questions.ts';

/** What stands in documentation in the place of a user's own value, as the whole of a secret. */
const WHOLE =
  /^(?:<.*>|\{.*\}|\[.*\]|your\b.*|.*\b(?:your|here)\b.*|.*_here|your[_-].*|x{4,}|\*{3,}|\.{3}|…|(?:api|access)[_-]?(?:key|token))$/i;

/** In a URL: `{subdomain}`, `<tenant>`, or the same with escapes. */
const IN_URL = /\{[a-z][\w .-]{0,60}\}|<[a-z][\w .-]{0,60}>|%(?:7B|3C)[a-z][\w.-]{0,60}%(?:7D|3E)/gi;
/** `your-domain` as a part of a host's name. It may be a real one; mostly it is none. */
const YOURS = /^your[\w-]*$/i;

export function isPlaceholder(text: string): boolean {
  return WHOLE.test(text);
}

/** The placeholders in a URL, or in a part of one, each once. */
export function placeholdersIn(url: string): readonly string[] {
  return [...new Set(url.match(IN_URL) ?? [])];
}

/** The host of a URL that says "your" where a name belongs. */
export function namesYours(origin: string): boolean {
  return new URL(origin).hostname.split('.').some((label) => YOURS.test(label));
}

/** Scheme and host of a URL as it is written; what follows is another matter. */
function hostOf(url: string): string {
  return /^(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#]*/i.exec(url)![0];
}

/**
 * The URL with a person's own values in the place of placeholders. Without someone to ask, one in the host is refused: a
 * base URL can't be made of it.
 *
 * @throws UsageError
 */
export async function filledUrl(url: string, asked: Questions | undefined): Promise<string> {
  const inHost = placeholdersIn(hostOf(url));
  if (asked === undefined) {
    if (inHost.length > 0) throw unfilled(inHost[0]!);
    return url;
  }
  let filled = url;
  for (const placeholder of placeholdersIn(url)) {
    const legal = inHost.includes(placeholder) ? /^[\w-]+(?:\.[\w-]+)*$/ : /^[\w.~%@:+,=-]+$/;
    const check = (answer: string) => {
      if (!legal.test(answer)) throw new UsageError('must be what stands there in the URL, without blanks');
    };
    filled = filled.replaceAll(placeholder, await asked.ask(`${placeholder} in the URL`, check));
  }
  return filled;
}

/** The fault of a placeholder that is still in the URL. */
export function unfilled(placeholder: string): UsageError {
  return new UsageError(`the URL holds ${placeholder}, a placeholder: write your own value in its place`);
}
