import type { Document, LineCounter, ParsedNode } from 'yaml';

/** The place of a dotted key (`routes[2].prefix`) in the file. */
interface FilePosition {
  readonly line: number;
  /** Whether the key itself exists and has a value; else this is the line of the nearest key above it. */
  readonly exact: boolean;
}

export type PlaceOf = (key: string) => FilePosition | undefined;

type Yaml = Pick<typeof import('./yaml.ts'), 'isAlias' | 'isMap' | 'isScalar' | 'isSeq'>;

/** One step towards the key; `rest` is what is left of the key. */
interface Step {
  readonly offset: number;
  readonly node: unknown;
  readonly rest: string;
}

/** A map may merge itself. */
const DEEPEST_MERGE = 3;

export function placeFinder(
  document: Document<ParsedNode>,
  lineCounter: LineCounter,
  { isAlias, isMap, isScalar, isSeq }: Yaml,
): PlaceOf {
  /** The steps that can be taken from a node, the best one first. */
  const stepsFrom = (at: unknown, key: string, depth = 0): readonly Step[] => {
    const node = isAlias(at) ? at.resolve(document) : at;
    if (isSeq<ParsedNode>(node)) {
      const [prefix = '', index] = /^\[(\d+)\]\.?/.exec(key) ?? [];
      const item = index === undefined ? undefined : node.items[Number(index)];
      return item ? [{ offset: item.range[0], node: item, rest: key.slice(prefix.length) }] : [];
    }
    if (!isMap<ParsedNode, ParsedNode | null>(node)) return [];
    const steps = node.items.flatMap(({ key: name, value }) => {
      const text = isScalar(name) ? String(name.value) : '';
      const after = key.slice(text.length);
      const fits = text !== '' && key.startsWith(text) && /^(?:$|[.[])/.test(after);
      return fits ? [{ offset: name.range[0], node: value, rest: after.replace(/^\./, '') }] : [];
    });
    // A name may hold dots itself: the longest that fits wins.
    if (steps.length > 0) return steps.sort((a, b) => a.rest.length - b.rest.length);
    // `<<` brings in the keys of other maps.
    return node.items
      .filter(({ key: name }) => depth < DEEPEST_MERGE && isScalar(name) && String(name.value) === '<<')
      .flatMap(({ value }) => (isSeq<ParsedNode>(value) ? value.items : [value]))
      .flatMap((source) => stepsFrom(source, key, depth + 1));
  };

  return (key) => {
    let last: Step | undefined;
    let [next] = stepsFrom(document.contents, key);
    while (next !== undefined) {
      last = next;
      [next] = last.rest === '' ? [] : stepsFrom(last.node, last.rest);
    }
    if (last === undefined) return undefined;
    const isEmpty = last.node === null || (isScalar(last.node) && last.node.value === null);
    return { line: lineCounter.linePos(last.offset).line, exact: last.rest === '' && !isEmpty };
  };
}
