import type { Route } from '../../routes/route-table.ts';
import { clientLocation } from './location.ts';

/** The pieces of a `Link` (RFC 8288 §3, and the lenient reading of its appendix B.2), each found where the last one ended. */
const TARGET = /([ \t,]*<)([^<>]*)>/y;
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|[^ \t",;]*))?)?/y;
const END = /[ \t]*(?:,|$)/y;
const NOTHING_MORE = /[ \t,]*$/y;

/**
 * A `Link` whose targets on the upstream's own origin are the paths that the client would ask us for, as those of a
 * `Location` are; so is what a link is about, its `anchor`. Every other byte stays, and so does a value that is no list of
 * links: readers differ in how they read it.
 */
export function clientLinks(value: string, route: Route): string {
  let mapped = '';
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(value);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  for (;;) {
    const rest = take(NOTHING_MORE);
    if (rest !== null) return mapped + rest[0];
    const target = take(TARGET);
    if (target === null) return value;
    mapped += `${target[1]}${clientLocation(target[2]!, route)}>`;
    for (let parameter = take(PARAMETER); parameter !== null; parameter = take(PARAMETER))
      mapped += clientParameter(parameter, route);
    const end = take(END);
    if (end === null) return value;
    mapped += end[0];
  }
}

function clientParameter([text, name, quoted]: RegExpExecArray, route: Route): string {
  if (quoted === undefined || name!.toLowerCase() !== 'anchor') return text;
  return `${text.slice(0, -quoted.length - 1)}${clientLocation(quoted, route)}"`;
}
