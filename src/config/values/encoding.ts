export const NOT_UTF8 = 'not UTF-8 text; save it as UTF-8 (it may be UTF-16 now)';

/** What is left of another encoding once it was read as UTF-8; U+FFFD is what the decoder leaves where bytes were none. */
export function isOtherEncoding(text: string): boolean {
  return text.includes('\ufffd') || /^(?:\0[^\0]|[^\0]\0[^\0]\0)/.test(text);
}

/** A text without the one line end that editors and programs put at its end. */
export function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
