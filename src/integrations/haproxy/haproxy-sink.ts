import type { HaproxySinkConfig } from '../../config/config.ts';
import type { PresentOf, Sink } from '../sink.ts';
import { runtimeCommand, word } from './runtime-api.ts';

/** HAProxy may have been restarted, and its map be empty. */
const LOOK_MS = 1_000;

/**
 * A map in HAProxy's memory: a credential's name to its header. It is read each time and only what differs is written, so
 * that a HAProxy that was restarted, and has begun with an empty map, needs no rule of its own.
 *
 * @param listenForRetries the other half of a fast lane. A HAProxy with its own configuration may do without: the map
 *   doesn't wait for it
 */
export function createHaproxySink(config: HaproxySinkConfig, listenForRetries: () => Promise<void>): Sink {
  return {
    lookMs: LOOK_MS,
    async settle(present) {
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

/** What the map holds: a line for each entry, with its address, its key and its value. */
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

/** No such map, no right to change it: HAProxy's own words may hold what was sent. */
function refuse(): never {
  throw Object.assign(new Error('the Runtime API refused a command'), { code: 'REFUSED' });
}
