import { CONTROLS, INVISIBLE } from '../base/invisible.ts';

const CONTROL = new RegExp(`[${CONTROLS}]`, 'g');
const UNSEEN = new RegExp(`[${INVISIBLE}]`, 'g');

/** Escapes characters that would control a terminal or are invisible. */
export function visible(text: string): string {
  return visibleJson(text.replace(CONTROL, escaped));
}

/** The same for lines of JSON, whose strings hold no C0 controls. The JSON keeps its meaning. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
