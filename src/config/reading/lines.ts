import type { Document, LineCounter, ParsedNode, YAMLMap, YAMLSeq } from 'yaml';

/** Where a dotted key (`routes[2].prefix`) stands in the file. */
export interface FilePosition {
  readonly line: number;
  /** The key itself is there and has a value; else this is the line of what it would stand in. */
  readonly exact: boolean;
}

export type PlaceOf = (key: string) => FilePosition | undefined;

type Yaml = Pick<typeof import('./yaml.ts'), 'isAlias' | 'isMap' | 'isScalar' | 'isSeq'>;

/** One step towards the key: where it stands, what stands there, and what of the key is left. */
interface Step {
  readonly offset: number;
  readonly node: unknown;
  readonly rest: string;
}

/** A map may bring in itself. */
const DEEPEST_MERGE = 3;

function intoList(list: YAMLSeq<ParsedNode>, key: string): Step | undefined {
  const [prefix = '', index] = /^\[(\d+)\]\.?/.exec(key) ?? [];
  const item = index === undefined ? undefined : list.items[Number(index)];
  return item && { offset: item.range[0], node: item, rest: key.slice(prefix.length) };
}

export function placeFinder(
  document: Document<ParsedNode>,
  lineCounter: LineCounter,
  { isAlias, isMap, isScalar, isSeq }: Yaml,
): PlaceOf {
  const resolve = (node: unknown) => (isAlias(node) ? node.resolve(document) : node);

  const intoMap = (
    map: YAMLMap<ParsedNode, ParsedNode | null>,
    key: string,
    depth: number,
  ): Step | undefined => {
    const steps = map.items.flatMap(({ key: name, value }) => {
      const text = isScalar(name) ? String(name.value) : '';
      const after = key.slice(text.length);
      const fits = text !== '' && key.startsWith(text) && /^(?:$|[.[])/.test(after);
      return fits ? [{ offset: name.range[0], node: value, rest: after.replace(/^\./, '') }] : [];
    });
    // A name may hold dots itself: the longest one that fits is meant.
    const [best] = steps.sort((a, b) => a.rest.length - b.rest.length);
    return best ?? (depth < DEEPEST_MERGE ? intoMerged(map, key, depth + 1) : undefined);
  };

  /** `<<` brings in the keys of other maps. */
  const intoMerged = (
    map: YAMLMap<ParsedNode, ParsedNode | null>,
    key: string,
    depth: number,
  ): Step | undefined => {
    for (const { key: name, value } of map.items) {
      if (!isScalar(name) || String(name.value) !== '<<') continue;
      for (const source of isSeq<ParsedNode>(value) ? value.items : [value]) {
        const found = step(source, key, depth);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  };

  const step = (at: unknown, key: string, depth = 0): Step | undefined => {
    const node = resolve(at);
    if (isSeq<ParsedNode>(node)) return intoList(node, key);
    return isMap<ParsedNode, ParsedNode | null>(node) ? intoMap(node, key, depth) : undefined;
  };

  return (key) => {
    let last: Step | undefined;
    for (;;) {
      const next: Step | undefined =
        last?.rest === '' ? undefined : step(last ? last.node : document.contents, last?.rest ?? key);
      if (next === undefined) break;
      last = next;
    }
    if (last === undefined) return undefined;
    const isEmpty = last.node === null || (isScalar(last.node) && last.node.value === null);
    return { line: lineCounter.linePos(last.offset).line, exact: last.rest === '' && !isEmpty };
  };
}
