import { UsageError } from '../base/errors.ts';
import { didYouMean, nearest } from '../config/values/nearest.ts';
import { type OptionValues, textOptions } from './command.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Other braces stand for themselves: a template may be JSON. */
const PLACEHOLDER = /\{([A-Za-z]+)\}/g;
const PLACES = ['url', 'key', 'host', 'port'];
const USUAL = 'BEARERD_URL';

/** What the command of `exec` is told, by variable: templates with `{url}`, `{key}`, `{host}` and `{port}`. */
interface ChildVariables {
  readonly templates: ReadonlyMap<string, string>;
  /** One of them tells a key. */
  readonly hasKey: boolean;
}

/** Where a proxy is, and what it asks of its callers. */
interface ProxyFacts {
  readonly url: string;
  readonly key: string | undefined;
}

/** @throws UsageError */
export function childVariables(values: OptionValues): ChildVariables {
  const templates = new Map<string, string>();
  const set = (option: string, name: string, template: string) => {
    if (!NAME.test(name))
      throw new UsageError(
        `--${option} ${name}: must be a name of letters, digits and _ that does not begin with a digit`,
      );
    if (templates.has(name)) throw new UsageError(`--${option} ${name}: is given twice; keep one`);
    checkTemplate(option, name, template);
    templates.set(name, template);
  };
  let named = false;
  for (const text of textOptions(values, 'env')) {
    const at = text.indexOf('=');
    if (at === -1) set('env', text, '{url}');
    else set('env', text.slice(0, at), text.slice(at + 1));
    named ||= at === -1;
  }
  for (const name of textOptions(values, 'key-env')) set('key-env', name, '{key}');
  if (!named && !templates.has(USUAL)) templates.set(USUAL, '{url}');
  return { templates, hasKey: [...templates.values()].some((template) => template.includes('{key}')) };
}

function checkTemplate(option: string, name: string, template: string): void {
  for (const [placeholder, word = ''] of template.matchAll(PLACEHOLDER)) {
    if (PLACES.includes(word)) continue;
    const known = PLACES.map((place) => `{${place}}`).join(', ');
    throw new UsageError(
      `--${option} ${name}: unknown placeholder ${placeholder}${didYouMean(nearest(word, PLACES))} (known: ${known})`,
    );
  }
}

/** @throws UsageError if a host is asked for, and the proxy has none. */
export function filledIn({ templates }: ChildVariables, { url, key = '' }: ProxyFacts): Map<string, string> {
  const address = url.startsWith('http') ? new URL(url) : undefined;
  const facts: Readonly<Record<string, string | undefined>> = {
    url,
    key,
    host: address?.hostname,
    port: address?.port,
  };
  const fill = (name: string, template: string) =>
    template.replace(PLACEHOLDER, (placeholder, word: string) => {
      const fact = facts[word];
      if (fact === undefined) throw new UsageError(`--env ${name}: ${url} has no ${placeholder}`);
      return fact;
    });
  return new Map([...templates].map(([name, template]) => [name, fill(name, template)]));
}
