import type { Config } from '../config.ts';
import { ENGINE_WORDS } from '../sections/share.ts';
import { sinkWords } from '../sections/sink-config.ts';

/** The configuration in force as YAML; a comment says where each value comes from. */
export async function annotated({
  effective,
  provenance,
  share,
  sinks,
}: Pick<Config, 'effective' | 'provenance' | 'share' | 'sinks'>): Promise<string> {
  const { Document, isMap, isScalar, isSeq } = await import('../reading/yaml.ts');
  const document = new Document(effective);
  const comment = (node: unknown, key: string): void => {
    if (isMap(node) && node.items.length > 0) {
      for (const { key: name, value } of node.items)
        comment(value, key === '' ? `${name}` : `${key}.${name}`);
    } else if (isSeq(node) && node.items.length > 0) {
      for (const [index, item] of node.items.entries()) comment(item, `${key}[${index}]`);
    } else if (isScalar(node) || isMap(node) || isSeq(node)) {
      node.comment = ` ${provenance[key] ?? 'default'}`;
    }
  };
  comment(document.contents, '');
  // The other places that hold secrets.
  const places = [...(share === undefined ? [] : [ENGINE_WORDS]), ...sinks.map(sinkWords)];
  const held = places.map((words) => ` ${words}`).join('\n');
  if (held !== '') document.commentBefore = held;
  // Puts an empty list and its comment, which take three lines, into one.
  return document.toString({ lineWidth: 0 }).replace(/:\n +(\[\]|\{\})\n +#/g, ': $1 #');
}

/** Every file that was read. */
export function filesRead({ file, dotEnv, watchedFiles }: Config): string[] {
  return [...(dotEnv === 'read' ? ['.env'] : []), ...(file === undefined ? [] : [file]), ...watchedFiles];
}
