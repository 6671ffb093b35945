export const NOT_UTF8 = 'not UTF-8 text; save it as UTF-8 (it may be UTF-16 now)';

/** Whether a text was decoded as UTF-8 and is not: U+FFFD replaces invalid bytes. */
export function isOtherEncoding(text: string): boolean {
  return text.includes('\ufffd') || /^(?:\0[^\0]|[^\0]\0[^\0]\0)/.test(text);
}

/** Removes the one line end that editors and programs add. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
