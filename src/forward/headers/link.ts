import type { Route } from '../../routes/route-table.ts';
import { clientLocation } from './location.ts';

/** The parts of a `Link` value (RFC 8288 §3, read as leniently as its appendix B.2); each matches where the last one ended. */
const TARGET = /([ \t,]*<)([^<>]*)>/y;
const PARAMETER =
  /[ \t]*;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|[^ \t",;]*))?)?/y;
const END = /[ \t]*(?:,|$)/y;
const NOTHING_MORE = /[ \t,]*$/y;

/**
 * A `Link` value with each target on the upstream's origin mapped to the client's path, as a `Location` is; `anchor`, the
 * subject of a link, is mapped, too. Every other byte stays. A value that is no list of links stays as it is, because
 * readers disagree on how to read it.
 */
export function clientLinks(value: string, route: Route, own?: ReadonlySet<string>): string {
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
    const [, before = '', reference = ''] = target;
    mapped += `${before}${clientLocation(reference, route, own)}>`;
    for (let parameter = take(PARAMETER); parameter !== null; parameter = take(PARAMETER))
      mapped += clientParameter(parameter, route, own);
    const end = take(END);
    if (end === null) return value;
    mapped += end[0];
  }
}

function clientParameter(
  [text, name, quoted]: RegExpExecArray,
  route: Route,
  own: ReadonlySet<string> | undefined,
): string {
  if (quoted === undefined || name?.toLowerCase() !== 'anchor') return text;
  return `${text.slice(0, -quoted.length - 1)}${clientLocation(quoted, route, own)}"`;
}
