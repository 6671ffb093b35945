import { type FileStamp, type FileStamps, fileStamps } from './file-stamp.ts';
import { readFailure } from './reading/text-file.ts';
import { withoutLineEnd } from './values/encoding.ts';

/** By path, the contents that a configuration has read. */
type Contents = ReadonlyMap<string, string>;

export interface WatchOptions {
  readonly files: readonly string[];
  readonly readFile: (path: string) => Promise<string>;
  /** A change is offered at the second poll that sees it. While all files rest, polls are twice as far apart. */
  readonly intervalMs?: number;
  /** Tell an unchanged file without reading it; the system's unless a test passes its own. */
  readonly stamps?: FileStamps;
  /** What the configuration read, so that no change before the first poll is lost. */
  readonly known?: Contents;
  /** Called once for each new, complete content; for one file at a time. */
  readonly onChange: (path: string, content: string) => unknown;
  /**
   * Called once when a file is missing, empty or unreadable at two polls in a row: a file that is being written is so for
   * a moment. Called again only after the file could be read in between.
   */
  readonly onTrouble: (path: string, reason: string) => void;
  /** Called when a file that was told of by `onTrouble` can be read again. */
  readonly onUsable?: (path: string) => void;
  readonly signal: AbortSignal;
}

export interface SecretFileWatch {
  /** Watches these files from now on, and no others. */
  readonly update: (files: readonly string[], known?: Contents) => void;
}

interface WatchedFile {
  readonly path: string;
  /** The last content that was offered; each is offered once. */
  settled?: string | undefined;
  /** What the last poll saw; a content is complete if two polls in a row see it. */
  seen?: string | undefined;
  /** How many polls in a row found no content. */
  misses: number;
  /** Taken before the last poll read it. */
  stamp?: FileStamp;
  /** Two polls in a row saw this stamp and the settled content: not read again until the stamp changes. */
  rests: boolean;
  reading: boolean;
}

type Look = { readonly content: string } | { readonly trouble: string };

async function look(path: string, readFile: WatchOptions['readFile']): Promise<Look> {
  try {
    const content = await readFile(path);
    return withoutLineEnd(content) === '' ? { trouble: 'it is empty' } : { content };
  } catch (error) {
    return { trouble: readFailure(error).reason };
  }
}

/** The content to offer, if there is a new one. */
function changeIn(file: WatchedFile, content: string): string | undefined {
  const whole = content === file.seen;
  file.misses = 0;
  file.settled ??= content;
  file.seen = content;
  return whole && content !== file.settled ? content : undefined;
}

/** One look at one file. `isWatched` is called after it, since a look may take long. */
async function poll(
  file: WatchedFile,
  { readFile, onTrouble, onUsable, stamps = fileStamps }: WatchOptions,
  isWatched: () => boolean,
  offer: (content: string) => Promise<unknown>,
): Promise<void> {
  // Before the content is read: a later write changes the stamp.
  const stamp = (await stamps.isQuick(file.path)) ? stamps.of(file.path) : undefined;
  const found = await look(file.path, readFile);
  if (!isWatched()) return;
  const isSame = stamp !== undefined && stamp === file.stamp;
  file.stamp = stamp;
  if ('trouble' in found) {
    file.seen = undefined;
    file.misses++;
    if (file.misses === 2) onTrouble(file.path, found.trouble);
    return;
  }
  if (file.misses >= 2) onUsable?.(file.path);
  file.rests = isSame && found.content === file.seen && found.content === file.settled;
  const content = changeIn(file, found.content);
  if (content === undefined) return;
  file.settled = content;
  await offer(content);
}

/**
 * Polls files: unlike `fs.watch`, a poll sees a write in place, a rename, and Kubernetes' swap of `..data`.
 * A file that rests costs one `stat`. Others are read independently and at most once at a time, so that a hanging file
 * system delays no other file. Stops with the signal; keeps no process alive.
 */
export function watchSecretFiles(options: WatchOptions): SecretFileWatch {
  const { intervalMs = 1000, stamps = fileStamps } = options;
  const watched = new Map<string, WatchedFile>();
  let lastOffer: Promise<unknown> = Promise.resolve();
  const update: SecretFileWatch['update'] = (files, known) => {
    for (const path of watched.keys()) if (!files.includes(path)) watched.delete(path);
    for (const path of files) {
      const file: WatchedFile = watched.get(path) ?? { path, misses: 0, rests: false, reading: false };
      file.settled = known?.get(path) ?? file.settled;
      watched.set(path, file);
    }
  };

  const tick = (): void => {
    for (const file of watched.values()) {
      if (file.reading || (file.rests && stamps.of(file.path) === file.stamp)) continue;
      file.rests = false;
      const isWatched = () => watched.get(file.path) === file && !options.signal.aborted;
      const offer = (content: string) => {
        const change = () => isWatched() && options.onChange(file.path, content);
        lastOffer = lastOffer.then(change, change);
        return lastOffer;
      };
      const done = () => {
        file.reading = false;
      };
      file.reading = true;
      // A listener that throws has refused the content; polling continues.
      poll(file, options, isWatched, offer).then(done, done);
    }
  };

  if (options.signal.aborted) return { update };
  update(options.files, options.known);
  let timer: NodeJS.Timeout | undefined;
  const run = (): void => {
    tick();
    const allRest = [...watched.values()].every(({ rests }) => rests);
    timer = setTimeout(run, allRest ? 2 * intervalMs : intervalMs).unref();
  };
  run();
  options.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  return { update };
}
