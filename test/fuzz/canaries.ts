/**
 * Secrets that can be found again. Each holds one word that occurs nowhere else; so whatever form a secret takes on
 * its way out (raw, URL-encoded, JSON-escaped, base64 at any offset, hexadecimal), that word's form is in it.
 */
const WORD = 'Kanarienvogel';

/** A secret; the rest of it may be as awkward as it likes. */
export const canary = (rest: string): string => `${WORD}${rest}`;

/** What stays the same of a word in base64, wherever in the text it begins. */
function base64Cores(word: string): string[] {
  return [0, 1, 2].map((offset) => {
    const text = Buffer.from(`${'\0'.repeat(offset)}${word}`)
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(Math.ceil((offset * 4) / 3), -1);
  });
}

const FORMS = [WORD, ...base64Cores(WORD), Buffer.from(WORD).toString('hex')];
const NEEDLES = FORMS.map((form) => Buffer.from(form));
const LONGEST = Math.max(...FORMS.map((form) => form.length));

/** True where any form of a canary is in it. */
export function leaks(bytes: Buffer | string): boolean {
  return typeof bytes === 'string'
    ? FORMS.some((form) => bytes.includes(form))
    : NEEDLES.some((needle) => bytes.includes(needle));
}

/** How often a canary is in a text as it is. */
export function countOf(text: string): number {
  return text.split(WORD).length - 1;
}

/** A text that goes by piece by piece, and is not kept. */
export class LeakWatch {
  #tail = Buffer.alloc(0);
  leaked: string | undefined;

  push(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#tail, chunk]);
    const at = NEEDLES.map((needle) => bytes.indexOf(needle)).find((index) => index !== -1);
    if (at !== undefined) this.leaked ??= bytes.toString('latin1', Math.max(0, at - 300), at + 100);
    this.#tail = bytes.subarray(Math.max(0, bytes.length - LONGEST));
  }
}
