/**
 * For a class of a regular expression: DEL and C1, which terminals obey as they do C0; characters that change the
 * direction of the text; characters without width.
 */
export const INVISIBLE = '\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff';
/** The control characters C0. */
export const CONTROLS = '\\x00-\\x1f';
