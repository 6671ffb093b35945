import { fieldsOf, formDecoded } from './curl-request.ts';

/** The body of a request that may be a login. */
export interface TokenBody {
  readonly isJson: boolean;
  readonly fields: ReadonlyMap<string, string>;
  /** What is not in `fields`, in words: values that are no text, and all but the last of one name. */
  readonly lost: readonly string[];
}

/** Undefined if it is neither a form nor an object of JSON. Pure. */
export function tokenBody(body: string): TokenBody | undefined {
  return jsonBody(body) ?? formBody(body);
}

function formBody(body: string): TokenBody | undefined {
  if (!/^[\w.%-]+=[^\n]*$/.test(body)) return undefined;
  const pairs = fieldsOf(body, '&').map(
    ({ name, value }) => [formDecoded(name), formDecoded(value)] as const,
  );
  const fields = new Map(pairs);
  const names = pairs.map(([name]) => name);
  const lost = names.filter((name, index) => names.indexOf(name, index + 1) !== -1);
  return { isJson: false, fields, lost: lost.map((name) => `another ${name} of the body`) };
}

function jsonBody(body: string): TokenBody | undefined {
  if (!body.trimStart().startsWith('{')) return undefined;
  try {
    const members = Object.entries(JSON.parse(body) as object);
    const texts = members.filter((member): member is [string, string] => typeof member[1] === 'string');
    const others = members.filter(([, value]) => typeof value !== 'string');
    return {
      isJson: true,
      fields: new Map(texts),
      lost: others.map(([name]) => `${name} of the body`),
    };
  } catch {
    return undefined;
  }
}
