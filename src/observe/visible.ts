import { CONTROLS, INVISIBLE } from '../base/invisible.ts';

const CONTROL = new RegExp(`[${CONTROLS}]`, 'g');
const UNSEEN = new RegExp(`[${INVISIBLE}]`, 'g');

/** The same text with each character escaped that would act on a terminal, or on a reader, in place of being seen. */
export function visible(text: string): string {
  return visibleJson(text.replace(CONTROL, escaped));
}

/** The same for JSON, whose strings hold no C0 any more, and whose lines end with one. Gives the same JSON. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
