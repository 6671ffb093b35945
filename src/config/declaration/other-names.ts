/** What other programs call a flag of ours, and how ours is used. */
interface OtherName {
  readonly flag: string;
  readonly use: string;
}

/** By the name that other programs have, without hyphens before it. */
const OTHER_NAMES: Readonly<Record<string, OtherName>> = {
  ...named(['port', 'p', 'host', 'bind', 'addr', 'address'], 'listen', '--listen HOST:PORT'),
  ...named(['url', 'api-url', 'upstream', 'target', 'backend', 'u'], 'base-url', '--base-url URL'),
  ...named(['token', 'key', 'bearer'], 'api-key-file', '--api-key-file FILE'),
  ...named(['verbose', 'debug'], 'log-level', '--log-level debug'),
  ...named(['v'], 'version', '--version'),
  ...named(['conf', 'file', 'f', 'c'], 'config', '--config FILE'),
};

function named(others: readonly string[], flag: string, use: string): Record<string, OtherName> {
  return Object.fromEntries(others.map((other) => [other, { flag, use }]));
}

export function otherName(name: string): OtherName | undefined {
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
}
