import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type AccessToken, isUsable } from '../credentials/access-token.ts';
import { Problem } from '../errors.ts';
import type { Forwardable, ForwardContext } from './forwardable.ts';
import { type HandshakeOutcome, shakeHands, switchingHead } from './handshake.ts';
import { Reply } from './reply.ts';
import { RESET_CONTENT, responseHead } from './response-headers.ts';
import { noToken, secondChance, tokenSource } from './token-use.ts';
import { Tunnel } from './tunnel.ts';
import { upstreamProblem } from './upstream-error.ts';
import { deadline, type Watched } from './watchdog.ts';

/** What a client may say before the upstream has answered; more waits in the kernel. */
const EARLY_LIMIT_BYTES = 64 * 1024;

/**
 * A request that wants to become a tunnel: forwarded with its `Upgrade`, and once the upstream itself has said 101,
 * bytes both ways. Any other answer is passed to the client as it is.
 */
export class Upgrade implements Watched {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  memberAt = -1;
  readonly #context: ForwardContext;
  readonly #f: Forwardable;
  readonly #client: Socket;
  readonly #reply: Reply;
  readonly #endsWithToken: boolean;
  readonly #early: Buffer[] = [];
  #earlyBytes = 0;
  #asked: ClientRequest | undefined;
  #tunnel: Tunnel | undefined;
  readonly #leaving = new AbortController();
  #replayed = false;
  #holding = false;
  #closed = false;

  /** @param endsWithToken the tunnel is closed when the token expires that it was opened with */
  constructor(
    context: ForwardContext,
    forwardable: Forwardable,
    client: Socket,
    head: Buffer,
    endsWithToken: boolean,
  ) {
    this.#context = context;
    this.#f = forwardable;
    this.#client = client;
    this.#endsWithToken = endsWithToken;
    this.#reply = new Reply(context, forwardable);
    if (head.length > 0) this.#keepEarly(head);
  }

  start(): void {
    const { response } = this.#f;
    response.sendDate = false;
    response.shouldKeepAlive = false;
    // Node tells only that the client has ended its side; to us that is the end of it.
    this.#client
      .on('data', this.#keepEarly)
      .on('end', this.#clientEnded)
      .on('close', () => this.#clientClosed());
    this.#context.watchdog.add(this);
    this.#authorize();
  }

  readonly #keepEarly = (chunk: Buffer): void => {
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > EARLY_LIMIT_BYTES) this.#client.pause();
  };

  readonly #clientEnded = (): void => {
    this.#client.destroy();
  };

  #authorize(): void {
    const source = tokenSource(this.#f);
    if (source === undefined) {
      this.#ask(undefined);
    } else {
      source
        .wait(this.#leaving.signal)
        .then(async (token) => {
          // Nothing goes upstream for a client that has left behind more than was read of it.
          if (await this.#context.departures.isHere(this.#client)) this.#ask(token);
        })
        .catch((reason) => this.#fail(noToken(reason)));
    }
  }

  #ask(token: AccessToken | undefined): void {
    if (this.#closed) return;
    this.#limit(this.#f.route.timeouts.responseMs);
    const current = (act: () => void) => {
      if (this.#asked === asked) act();
    };
    const outcome: HandshakeOutcome = {
      switched: (response, upstream, early) => this.#join(token, response, upstream, early),
      refused: (response) => this.#refused(token, response),
      failed: (error) => current(() => this.#failed(error)),
      tokenExpired: () => current(() => this.#authorize()),
    };
    const asked = shakeHands(this.#f, token, this.#context, outcome);
    this.#asked = asked;
  }

  /** The upstream has switched: from here on it is bytes. */
  #join(token: AccessToken | undefined, response: IncomingMessage, upstream: Socket, early: Buffer): void {
    const passed = responseHead(response.rawHeaders, 101, this.#f);
    if (this.#closed || passed === undefined) {
      upstream.on('error', () => {}).destroy();
      this.#upstreamFailed(new Problem('upstream-invalid'));
      return;
    }
    const { event, response: own, route, head } = this.#f;
    const protocol = response.headers.upgrade ?? head.upgrade!;
    event.status = 101;
    own.detachSocket(this.#client);
    this.#client.off('data', this.#keepEarly).off('end', this.#clientEnded);
    this.#client.write(switchingHead(protocol, passed.headers), 'latin1');
    if (early.length > 0) this.#client.write(early);
    for (const chunk of this.#early.splice(0)) upstream.write(chunk);
    const expires = this.#endsWithToken ? token?.expires : undefined;
    const limits = { idleMs: route.timeouts.idleMs, expires };
    this.#tunnel = new Tunnel(this.#context, this.#client, upstream, limits);
    this.#context.watchdog.delete(this);
    this.#context.watchdog.add(this.#tunnel);
    this.#tunnel.open();
  }

  #refused(token: AccessToken | undefined, response: IncomingMessage): void {
    if (response.statusCode! < 200) {
      // 101 without what makes it one: there is neither a tunnel nor an answer.
      response.on('error', () => {}).destroy();
      this.#upstreamFailed(
        new Problem('upstream-invalid', { cause: new Error(`status ${response.statusCode}`) }),
      );
      return;
    }
    const maySend = response.statusCode === 401 && !this.#replayed;
    const second = maySend ? secondChance(this.#f, token) : undefined;
    if (second === undefined) {
      this.#passOn(response);
      return;
    }
    this.#replayed = true;
    this.#holding = true;
    this.deadlineMonoMs = Number.POSITIVE_INFINITY; // A login has a limit of its own.
    let broken: Error | undefined;
    response.on('error', (error) => {
      broken = error;
    });
    void Promise.resolve(second).then((fresh) => {
      this.#holding = false;
      if (this.#closed) return;
      if (fresh === undefined || !isUsable(fresh, this.#context.clock)) {
        this.#passOn(response);
        if (broken !== undefined) this.#failed(broken);
      } else {
        response.on('error', () => {}).destroy();
        this.#ask(fresh);
      }
    });
  }

  #passOn(upstream: IncomingMessage): void {
    const { statusCode, statusMessage } = upstream;
    const problem = this.#reply.begin(statusCode!, statusMessage!, upstream.rawHeaders);
    if (problem !== undefined) {
      upstream.on('error', () => {}).destroy();
      this.#upstreamFailed(problem);
      return;
    }
    const { route } = this.#f;
    this.#limit(route.timeouts.idleMs);
    if (statusCode === RESET_CONTENT && !this.#reply.framed) {
      // It was given a length of 0: nothing may follow.
      upstream.on('error', () => {}).destroy();
      this.#reply.end();
      return;
    }
    upstream
      .on('data', (chunk: Buffer) => {
        this.#limit(route.timeouts.idleMs);
        if (!this.#reply.write(chunk)) upstream.pause();
      })
      .on('end', () => this.#reply.end())
      .on('error', (error) => this.#failed(error));
    // Node has given the connection away, and tells the response of nothing any more.
    this.#client.on('drain', () => upstream.resume());
  }

  #failed(error: Error): void {
    if (this.#holding) return; // The answer's head is here, and what becomes of it is being decided.
    const peerGone = (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    this.#upstreamFailed(upstreamProblem(error, { peerGone, responseBegun: false }));
  }

  #upstreamFailed(problem: Problem): void {
    if (this.#closed || this.#reply.over || this.#tunnel !== undefined) return;
    const { code, cause } = problem;
    this.#context.observe({ type: 'upstream-failed', code, route: this.#f.route.prefix, cause });
    this.#fail(problem);
  }

  /** The watchdog's call. */
  expire(): void {
    if (this.#reply.begun) {
      this.#client.destroy();
    } else {
      this.#upstreamFailed(new Problem('upstream-timeout'));
      this.#asked?.destroy();
    }
  }

  #limit(ms: number): void {
    this.deadlineMonoMs = deadline(this.#context.clock, ms);
  }

  #fail(problem: Problem): void {
    if (this.#closed) return;
    this.#limit(this.#f.route.timeouts.idleMs);
    this.#reply.fail(problem);
  }

  #clientClosed(): void {
    this.#closed = true;
    this.#context.watchdog.delete(this);
    this.#leaving.abort();
    this.#asked?.on('error', () => {}).destroy();
    const { event, response } = this.#f;
    if (this.#tunnel === undefined) {
      event.aborted = event.code === undefined && !response.writableFinished;
    } else {
      this.#context.watchdog.delete(this.#tunnel);
      event.bytesIn = this.#tunnel.bytesIn;
      event.bytesOut = this.#tunnel.bytesOut;
      if (this.#tunnel.expired) event.closedBy = 'token-expiry';
    }
    event.durationMs = this.#context.clock.monoMs() - event.startedMonoMs;
    this.#context.observe(event);
  }
}
