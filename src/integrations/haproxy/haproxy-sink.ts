import type { HaproxySinkConfig } from '../../config/sections/sink-config.ts';
import type { PresentOf, Sink } from '../sink.ts';
import { runtimeCommand, word } from './runtime-api.ts';

/** How often the map is checked: HAProxy may have restarted with an empty one. */
const CHECK_MS = 1_000;

/**
 * A map in HAProxy's memory, from a credential's name to its header value. Each check reads the map and writes only
 * what differs, so a HAProxy that has restarted with an empty map needs no special case.
 *
 * @param listenForRetries opens the socket for requests that failed on the fast lane. The map does not wait for it,
 *   because a HAProxy with its own configuration may not use it
 */
export function createHaproxySink(config: HaproxySinkConfig, listenForRetries: () => Promise<void>): Sink {
  return {
    checkMs: CHECK_MS,
    async update(present) {
      const [listening, settled] = await Promise.allSettled([listenForRetries(), settleMap(config, present)]);
      if (settled.status === 'rejected') throw settled.reason;
      if (listening.status === 'rejected') throw listening.reason;
      return settled.value;
    },
  };
}

async function settleMap(
  { path, map, credentials }: HaproxySinkConfig,
  present: PresentOf,
): Promise<boolean> {
  const commands = changes(word(map), await entries(path, map), wanted(credentials, present));
  if (commands.length === 0) return false;
  const answer = await runtimeCommand(path, commands.join(';'));
  if (answer.trim() !== '') refuse();
  return true;
}

function wanted(credentials: readonly string[], present: PresentOf): ReadonlyMap<string, string | undefined> {
  return new Map(credentials.map((name) => [name, present(name)?.headerValue.expose()]));
}

/** The entries of the map. HAProxy prints a line for each, with its address, key and value. */
async function entries(path: string, map: string): Promise<ReadonlyMap<string, string>> {
  const answer = await runtimeCommand(path, `show map ${word(map)}`);
  const lines = answer.split('\n').filter((line) => line.trim() !== '');
  return new Map(
    lines.map((line) => {
      const [, key = '', value = ''] = /^0x[0-9a-f]+ (\S+) (.*)$/.exec(line) ?? refuse();
      return [key, value];
    }),
  );
}

function changes(
  map: string,
  there: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string | undefined>,
): string[] {
  return [...wanted].flatMap(([name, value]) => {
    const found = there.get(name);
    if (found === value) return [];
    if (value === undefined) return [`del map ${map} ${name}`];
    return [`${found === undefined ? 'add' : 'set'} map ${map} ${name} ${word(value)}`];
  });
}

/** HAProxy's answer is not quoted, because it may hold the credential. Causes: no such map, or no right to change it. */
function refuse(): never {
  throw Object.assign(new Error('the Runtime API refused a command'), { code: 'REFUSED' });
}
