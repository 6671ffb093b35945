/**
 * The states of an exchange:
 * - `reading`: waits for the first piece of the client's body;
 * - `authorizing`: waits for a token;
 * - `connecting`: waits for a connection;
 * - `sending`: sends the request; no answer has begun;
 * - `held`: a 401 has come, and the exchange waits for a new token;
 * - `answering`: passes the upstream's answer to the client;
 * - `switching`: the upstream has switched protocols; the rest of the client's request is sent first;
 * - `tunnel`: passes bytes both ways;
 * - `answered`: the answer is complete, but the client may not have read all of it;
 * - `over`: the client has read its answer, or has left.
 */
export type State =
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
 * Which states may follow each state, and after which event. An event is late and is dropped if its state may not follow
 * the present one. `answered` without `answering` before it is a problem from bearerd. It may be one after `answering`,
 * too, if no valid answer can be made of the upstream's head.
 */
export const FOLLOWS: Readonly<Record<State, readonly State[]>> = {
  reading: [
    'authorizing', // the first piece, or the whole body, has come
    'answered', // the body is malformed or too slow
    'over',
  ],
  authorizing: [
    'connecting', // a token is available, or none is needed
    'answered', // no token came in time
    'over',
  ],
  connecting: [
    'sending', // a connection is ready
    'authorizing', // a connection is ready, but the token has expired meanwhile
    'connecting', // the connection failed before the request was sent
    'answered', // no connection could be made
    'over',
  ],
  sending: [
    'answering', // the head of an answer has come
    'held', // a 401 has come, and a new token may follow
    'connecting', // a 401 and a new token have come; or the attempt failed, and the request may be sent again
    'switching', // a 101 has come before the end of the request
    'tunnel', // a 101 has come
    'answered', // the upstream failed, or the rest of the body is malformed or too slow
    'over',
  ],
  held: [
    'connecting', // the new token has come
    'answering', // no new token will come: the 401 is the answer
    'answered',
    'over',
  ],
  answering: [
    'answered', // the answer has ended, or broken off
    'over',
  ],
  switching: [
    'tunnel', // the request is complete
    'answered', // the rest of the request is malformed or too slow
    'over',
  ],
  tunnel: ['over'],
  answered: ['over'],
  over: [],
};

/** The present state of one exchange. */
export class ExchangeState {
  #state: State = 'reading';

  get present(): State {
    return this.#state;
  }

  mayEnter(state: State): boolean {
    return FOLLOWS[this.#state].includes(state);
  }

  /** @returns false, and changes nothing, if the state may not follow the present one */
  enter(state: State): boolean {
    if (!this.mayEnter(state)) return false;
    this.#state = state;
    return true;
  }
}
