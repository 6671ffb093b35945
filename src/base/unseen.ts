/**
 * For a class of a regular expression: DEL and C1, which act on terminals as C0 does; what turns the direction of the text
 * behind it; what has no width.
 */
export const INVISIBLE = '\\x7f-\\x9f\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u2069\\ufeff';
/** C0. */
export const CONTROLS = '\\x00-\\x1f';
