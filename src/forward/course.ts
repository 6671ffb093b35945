/**
 * Where an exchange is:
 * - `reading`: waits for the first piece of the client's body;
 * - `authorizing`: waits for a token;
 * - `connecting`: waits for a connection;
 * - `sending`: the request goes up, and no answer has begun;
 * - `held`: a 401 has come, and waits for a new token;
 * - `answering`: the upstream's answer goes to the client;
 * - `switching`: the upstream speaks another protocol; the rest of the client's request goes up first;
 * - `tunnel`: bytes go both ways;
 * - `answered`: the answer is complete; the client may still have to read it;
 * - `over`: the client has read its answer, or has left.
 */
export type Course =
  | 'reading'
  | 'authorizing'
  | 'connecting'
  | 'sending'
  | 'held'
  | 'answering'
  | 'switching'
  | 'tunnel'
  | 'answered'
  | 'over';

/**
 * What may follow each state, and by which event. An event that has no successor in the present state is late, and is
 * dropped. `answered` without `answering` before it means that bearerd answers with a problem. After
 * `answering` it may still be one, where the upstream's head allowed no valid answer.
 */
export const FOLLOWS: Readonly<Record<Course, readonly Course[]>> = {
  reading: [
    'authorizing', // the first piece, or the whole, has come
    'answered', // it is no body, or comes too slowly
    'over',
  ],
  authorizing: [
    'connecting', // a token is there, or none is needed
    'answered', // none came in time
    'over',
  ],
  connecting: [
    'sending', // a connection is ready
    'authorizing', // a connection is ready, and the token has ended meanwhile
    'connecting', // the connection ended before anything was sent
    'answered', // none could be made
    'over',
  ],
  sending: [
    'answering', // the head of an answer has come
    'held', // that of a 401, and a new token may come
    'connecting', // a 401, and a new token is there; or the attempt failed, and the request may be sent again
    'switching', // a 101 before the request was whole
    'tunnel', // a 101
    'answered', // the upstream failed, or the rest of the body was malformed or too slow
    'over',
  ],
  held: [
    'connecting', // the new token is there
    'answering', // there will be none: the 401 is the answer
    'answered',
    'over',
  ],
  answering: [
    'answered', // the answer has ended, or broken off
    'over',
  ],
  switching: [
    'tunnel', // the request is whole
    'answered', // it doesn't become so
    'over',
  ],
  tunnel: ['over'],
  answered: ['over'],
  over: [],
};

/** The state of one exchange. */
export class Progress {
  #course: Course = 'reading';

  get course(): Course {
    return this.#course;
  }

  mayEnter(course: Course): boolean {
    return FOLLOWS[this.#course].includes(course);
  }

  /** @returns false, and stays, where that state may not follow the present one */
  enter(course: Course): boolean {
    if (!this.mayEnter(course)) return false;
    this.#course = course;
    return true;
  }
}
