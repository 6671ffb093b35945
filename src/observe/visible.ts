const CONTROLS = /[\x00-\x1f]/g;
/** DEL and C1, which act on terminals as C0 does; what turns the direction of the text behind it; what has no width. */
const HIDDEN = /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The same text with each character escaped that would act on a terminal, or on a reader, in place of being seen. */
export function visible(text: string): string {
  return visibleJson(text.replace(CONTROLS, escaped));
}

/** The same for JSON, whose strings hold no C0 any more, and whose lines end with one. Gives the same JSON. */
export function visibleJson(json: string): string {
  return json.replace(HIDDEN, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
