import { CONTENT_LENGTH, type FieldLines, fieldOf } from '../../base/fields.ts';
import type { Secret } from '../../base/secret.ts';
import type { AccessToken } from '../../login/access-token.ts';
import type { Credential } from '../../login/credential.ts';
import type { ReplyHead } from '../client/reply.ts';
import type { Forwardable } from '../forwardable.ts';
import { Scrubber, scrubText } from './scrubber.ts';
import { Searcher } from './searcher.ts';

/** No value holds it. */
const BETWEEN_LINES = '\n';

/** By the object that holds the value, so that one is made for each token, and goes with it. */
const searchers = new WeakMap<object, Searcher>();

/** What becomes of one request's answer, so that no credential that was sent on it comes back. */
export class Scrubbing {
  /** Something was struck out. */
  found = false;
  readonly #credential: Credential;
  #searcher: Searcher | undefined;
  #scrubber: Scrubber | undefined;

  constructor(credential: Credential) {
    this.#credential = credential;
  }

  /** It goes up now, once more perhaps. @param token of a token credential */
  sent(token: AccessToken | undefined): void {
    const credential = this.#credential;
    const searcher =
      credential.kind === 'token'
        ? token && searcherOf(token, [token.value])
        : searcherOf(credential, credential.secrets);
    if (searcher !== undefined) this.#searcher = this.#searcher?.with(searcher) ?? searcher;
  }

  /** All lines are searched at once, and one by one only where that finds something. */
  head(head: ReplyHead): ReplyHead {
    const { headers } = head;
    const all = headers.join(BETWEEN_LINES);
    if (this.#search(all) === all) return head;
    const scrubbed = [...headers];
    for (let i = 0; i < headers.length; i += 2) {
      if (fieldOf(headers[i]!) === CONTENT_LENGTH) continue; // A number that a short secret may well be like.
      scrubbed[i] = this.text(headers[i]!);
      scrubbed[i + 1] = this.text(headers[i + 1]!);
    }
    return { ...head, headers: scrubbed };
  }

  /** Each character a byte. */
  text(text: string): string {
    const scrubbed = this.#search(text);
    if (scrubbed !== text) this.found = true;
    return scrubbed;
  }

  /** What may go on of the body so far. */
  pass(piece: Buffer): readonly Buffer[] {
    if (this.#searcher === undefined) return [piece];
    this.#scrubber ??= new Scrubber(this.#searcher);
    const passes = this.#scrubber.push(piece);
    if (this.#scrubber.found) this.found = true;
    return passes;
  }

  /** What was held back at the end of the body. */
  rest(): Buffer | undefined {
    return this.#scrubber?.end();
  }

  #search(text: string): string {
    return this.#searcher === undefined ? text : scrubText(this.#searcher, text);
  }
}

/** Undefined where nothing of ours is sent, or it may come back. */
export function scrubbingOf({ route, keepsClientCredential }: Forwardable): Scrubbing | undefined {
  if (!route.scrub || route.credential === undefined || keepsClientCredential) return undefined;
  return new Scrubbing(route.credential);
}

/** True for a body that can't be searched, though `identity` was asked for. */
export function isCoded({ pairs, fields }: FieldLines): boolean {
  return fields.some((_, i) => {
    if (pairs[2 * i]!.toLowerCase() !== 'content-encoding') return false;
    return pairs[2 * i + 1]!.split(',').some((coding) => !/^(?:identity)?$/i.test(coding.trim()));
  });
}

function searcherOf(holder: object, secrets: readonly Secret[]): Searcher {
  let searcher = searchers.get(holder);
  if (searcher === undefined) {
    // As they are on the wire: UTF-8, a character for each byte.
    searcher = new Searcher(secrets.map((secret) => Buffer.from(secret.expose(), 'utf8').toString('latin1')));
    searchers.set(holder, searcher);
  }
  return searcher;
}
