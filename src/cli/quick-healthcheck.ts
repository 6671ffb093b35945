import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Environment } from '../base/environment.ts';
import { defaultPlaces } from '../config/reading/default-places.ts';
import { plainFileSync } from '../config/reading/plain-file.ts';
import { type ListenAddress, parseAddress } from '../config/values/addresses.ts';
import { reasonsUnready } from './admin-client.ts';
import { complain } from './command.ts';

const READY = 0;
const UNREADY = 1;
const DEFAULT = 'localhost:9181';
const FLAG = /^--(config|admin-listen)(?:=(.*))?$/s;

/** An escape may hide the word, and another encoding all of it. */
const UNCLEAR = /[\\\0\ufffd]/;
const ADMIN_KEY = /\badmin["']?\s*:/;
/** As it is mostly written: at the beginning of a line, with `listen` as its first key. */
const IN_BLOCK =
  /^admin:[ \t]*(?:#.*)?(?:\r?\n[ \t]*(?:#.*)?)*?\r?\n[ \t]+listen:[ \t]*([\w.:/-]+)[ \t]*(?:#.*)?$/m;
const IN_BRACES = /^admin:[ \t]*\{[ \t]*listen:[ \t]*([\w.:/-]+)[ \t]*[,}]/m;

/** Where the admin listener is. An address from a file may be misread: it counts only if a ready bearerd answers there. */
interface AdminAddress {
  readonly address: ListenAddress;
  readonly isSure: boolean;
}

/**
 * `bearerd healthcheck` if the admin address can be seen without reading a whole configuration, which is usual: a container
 * that asks every few seconds then doesn't load the code for that.
 *
 * @param args behind the command's name
 * @param cwd gives the working directory, or throws if it is gone
 * @returns the exit code; undefined if the configuration has to be read, or has something to complain of.
 */
export async function quickHealthcheck(
  args: readonly string[],
  env: Environment,
  cwd: () => string,
): Promise<number | undefined> {
  const place = plainPlace(args, env, cwd);
  if (place === undefined) return undefined;
  const reasons = await reasonsUnready(place.address);
  if (reasons.length === 0) return READY;
  if (!place.isSure) return undefined;
  for (const reason of reasons) complain(reason);
  return UNREADY;
}

/** Undefined if it takes more to find it. */
export function plainPlace(
  args: readonly string[],
  env: Environment,
  cwd: () => string,
): AdminAddress | undefined {
  const flags = flagsOf(args);
  if (flags === undefined) return undefined;
  const file = fileText(flags.get('config') ?? given(env.BEARERD_CONFIG), env, cwd);
  if (file === undefined) return undefined;
  const text = flags.get('admin-listen') ?? given(env.BEARERD_ADMIN_LISTEN) ?? listenIn(file);
  const parsed = text === undefined ? undefined : parseAddress(text);
  if (parsed === undefined || 'problem' in parsed) return undefined; // A list, `off`, or a fault.
  const address = parsed.value;
  return address.kind === 'unix' || address.port !== 0 ? { address, isSure: file === '' } : undefined;
}

function flagsOf(args: readonly string[]): Map<string, string> | undefined {
  const flags = new Map<string, string>();
  for (let i = 0; i < args.length; i++) {
    const [, name, value = args[++i]] = FLAG.exec(args[i]!) ?? [];
    if (name === undefined || value === undefined || value.trim() === '') return undefined;
    flags.set(name, value.trim());
  }
  return flags;
}

function given(value: string | undefined): string | undefined {
  const text = value?.trim();
  return text === '' ? undefined : text;
}

/** What stands in the configuration file, empty if there is none; undefined if there is more than it. */
function fileText(named: string | undefined, env: Environment, folder: () => string): string | undefined {
  try {
    const cwd = folder(); // It may be gone.
    // A pipe can be read only once, and not by us.
    if (named !== undefined) return plainFileSync(resolve(cwd, named));
    if (existsSync(resolve(cwd, '.env'))) return undefined;
    const places = defaultPlaces(env, cwd);
    const found = places.find((path) => existsSync(path));
    if (found !== undefined) return plainFileSync(found);
    const isMisnamed = places.some((path) => existsSync(path.replace(/yaml$/, 'yml')));
    return isMisnamed ? undefined : '';
  } catch {
    return undefined;
  }
}

function listenIn(file: string): string | undefined {
  if (UNCLEAR.test(file)) return undefined;
  if (!ADMIN_KEY.test(file)) return DEFAULT;
  return (IN_BLOCK.exec(file) ?? IN_BRACES.exec(file))?.[1];
}
