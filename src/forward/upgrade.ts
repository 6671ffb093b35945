import http, { type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type AccessToken, isUsable } from '../credentials/access-token.ts';
import { Problem } from '../errors.ts';
import type { ForwardContext, Forwardable } from './exchange.ts';
import { requestHeaders } from './request-headers.ts';
import { responseHead } from './response-headers.ts';
import { upstreamProblem } from './upstream-error.ts';
import type { Watched } from './watchdog.ts';

/** What a client may say before the upstream has answered; more waits in the kernel. */
const EARLY_LIMIT_BYTES = 64 * 1024;

/**
 * Protocols that carry further HTTP requests inside: those would go past the routes. Such an upgrade is ignored,
 * which RFC 9110 §7.8 always allows, and the request is answered as an ordinary one.
 */
const NOT_TUNNELLED = /^\s*(?:h2c?|http\/|tls\/)/i;

/** True for an upgrade that is passed on: a request without a body that asks for a protocol we may tunnel. */
export function isTunnelled(upgrade: string | undefined, hasBody: boolean): boolean {
  return upgrade !== undefined && upgrade !== '' && !hasBody && !upgrade.split(',').some((p) => NOT_TUNNELLED.test(p));
}

/**
 * A request that wants to become a tunnel: forwarded with its `Upgrade`, and once the upstream itself has said 101,
 * bytes both ways. Any other answer is passed to the client as it is.
 *
 * `node:http` asks here, on a connection of undici's connector: undici itself destroys the connection when an
 * upgrade is refused, and the refusal with it.
 */
export class Upgrade implements Watched {
  deadlineMonoMs = Number.POSITIVE_INFINITY;
  readonly #context: ForwardContext;
  readonly #f: Forwardable;
  readonly #client: Socket;
  readonly #early: Buffer[] = [];
  #earlyBytes = 0;
  #upstreamRequest: http.ClientRequest | undefined;
  #upstream: Duplex | undefined;
  #leaving = new AbortController();
  #replayed = false;
  #closed = false;
  #moved = -1;

  constructor(context: ForwardContext, forwardable: Forwardable, client: Socket, head: Buffer) {
    this.#context = context;
    this.#f = forwardable;
    this.#client = client;
    if (head.length > 0) this.#early.push(head);
    this.#earlyBytes = head.length;
  }

  start(): void {
    this.#client.on('data', this.#keepEarly).on('error', () => {}).on('close', () => this.#clientClosed());
    // Node tells only that the client has ended its side; to us that is the end of it.
    this.#client.on('end', () => this.#client.destroy());
    this.#context.watchdog.add(this);
    this.#authorize();
  }

  readonly #keepEarly = (chunk: Buffer): void => {
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > EARLY_LIMIT_BYTES) this.#client.pause();
  };

  #authorize(): void {
    const { route, head } = this.#f;
    const { credential } = route;
    const keeps = route.clientAuthorization === 'keep' && head.authorizationLines > 0;
    if (keeps || credential === undefined) return this.#ask(undefined, undefined, keeps);
    if (credential.kind === 'api-key') return this.#ask(undefined, credential.headerValue, false);
    credential.source.wait(this.#leaving.signal).then(
      (token) => this.#ask(token, token.headerValue, false),
      (reason: unknown) => this.#answer(reason instanceof Problem ? reason : new Problem('token-unavailable')),
    );
  }

  #ask(token: AccessToken | undefined, value: string | undefined, keeps: boolean): void {
    if (this.#closed) return;
    const { request, route, pool, target, dropCookies, head } = this.#f;
    const url = new URL(pool.origin);
    const headers = requestHeaders(request.rawHeaders, {
      credential: value === undefined ? undefined : { header: route.credential!.header, value },
      keepClientCredential: keeps,
      credentialHeader: route.credentialHeader,
      dropCookies,
      via: this.#context.via,
    });
    headers.push('host', url.host, 'connection', 'Upgrade', 'upgrade', head.upgrade!);
    const ask = http.request({
      method: request.method!,
      path: target,
      headers,
      setHost: false,
      createConnection: (_options, done) => {
        pool.connector(
          { hostname: url.hostname.replace(/^\[|\]$/g, ''), host: url.host, protocol: url.protocol, port: url.port },
          (error, socket) => (error === null ? done(null, socket) : done(error, undefined as never)),
        );
        return undefined;
      },
    });
    this.#upstreamRequest = ask;
    this.#limit(route.timeouts.responseMs);
    ask
      .on('upgrade', (response, socket, early) => this.#join(response, socket, early))
      .on('response', (response) => this.#refused(token, response))
      .on('error', (error) => this.#failed(ask, error));
    ask.end();
  }

  /** The upstream has switched: from here on it is bytes. */
  #join(response: IncomingMessage, upstream: Duplex, early: Buffer): void {
    const { event, response: own } = this.#f;
    this.#upstream = upstream;
    if (this.#closed) return void upstream.destroy();
    const raw = response.rawHeaders.map((text) => Buffer.from(text, 'latin1'));
    const { headers } = responseHead(raw, 101, this.#responseContext());
    let head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\n';
    head += `upgrade: ${response.headers.upgrade ?? this.#f.head.upgrade}\r\n`;
    for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`;
    event.status = 101;
    own.detachSocket(this.#client);
    this.#client.off('data', this.#keepEarly);
    this.#client.write(`${head}\r\n`, 'latin1');
    if (early.length > 0) this.#client.write(early);
    for (const chunk of this.#early.splice(0)) upstream.write(chunk);
    upstream.on('error', () => this.#client.destroy()).on('close', () => this.#client.destroySoon());
    this.#client.pipe(upstream).pipe(this.#client);
    this.#touch();
  }

  #refused(token: AccessToken | undefined, response: IncomingMessage): void {
    const { credential } = this.#f.route;
    const source = credential?.kind === 'token' ? credential.source : undefined;
    const second =
      response.statusCode === 401 && token !== undefined && !this.#replayed ? source?.rejected(token) : undefined;
    if (second === undefined) return this.#passOn(response);
    this.#replayed = true;
    this.deadlineMonoMs = Number.POSITIVE_INFINITY;
    void Promise.resolve(second).then((fresh) => {
      if (this.#closed) return;
      if (fresh === undefined || !isUsable(fresh, this.#context.clock)) return this.#passOn(response);
      response.on('error', () => {}).destroy();
      this.#ask(fresh, fresh.headerValue, false);
    });
  }

  #passOn(upstream: IncomingMessage): void {
    const { response, event, request } = this.#f;
    const raw = upstream.rawHeaders.map((text) => Buffer.from(text, 'latin1'));
    const { headers, framed } = responseHead(raw, upstream.statusCode!, this.#responseContext());
    response.shouldKeepAlive = false;
    response.sendDate = false;
    try {
      response.writeHead(upstream.statusCode!, upstream.statusMessage, headers);
    } catch (error) {
      return this.#answer(new Problem('upstream-invalid', { cause: error }));
    }
    event.status = upstream.statusCode!;
    response.write('', 'latin1');
    upstream.on('data', (chunk: Buffer) => {
      event.bytesOut += chunk.length;
      this.#limit(this.#f.route.timeouts.idleMs);
      if (!response.write(chunk)) upstream.pause();
    });
    response.on('drain', () => upstream.resume());
    upstream.on('end', () => response.end());
    upstream.on('error', () => (framed ? request.socket.destroySoon() : request.socket.resetAndDestroy()));
  }

  #responseContext() {
    const { route, dropCookies, corsOrigin } = this.#f;
    return { route, dropCookies, corsOrigin };
  }

  #failed(ask: http.ClientRequest, error: Error): void {
    if (this.#closed || ask !== this.#upstreamRequest || this.#f.response.headersSent) return;
    const peerGone = (error as NodeJS.ErrnoException).code === 'ECONNRESET';
    const problem = upstreamProblem(error, { peerGone, responseBegun: false });
    this.#context.observe({ type: 'upstream-failed', code: problem.code, route: this.#f.route.prefix, cause: error });
    this.#answer(problem);
  }

  /** The watchdog's call. A tunnel in which something has moved since the last look gets another term. */
  expire(): void {
    if (this.#upstream !== undefined) {
      const moved = this.#client.bytesRead + this.#client.bytesWritten;
      if (moved !== this.#moved) return this.#touch();
      return void this.#client.destroy();
    }
    this.deadlineMonoMs = Number.POSITIVE_INFINITY;
    const answered = this.#f.response.headersSent;
    this.#upstreamRequest?.destroy();
    if (answered) this.#client.destroy();
    else this.#answer(new Problem('upstream-timeout'));
  }

  #touch(): void {
    this.#moved = this.#client.bytesRead + this.#client.bytesWritten;
    this.#limit(this.#f.route.timeouts.idleMs);
  }

  #limit(ms: number): void {
    this.deadlineMonoMs = ms === 0 ? Number.POSITIVE_INFINITY : this.#context.clock.monoMs() + ms;
  }

  #answer(problem: Problem): void {
    const { response, event, corsOrigin } = this.#f;
    if (this.#closed || this.#upstream !== undefined) return;
    response.shouldKeepAlive = false;
    this.#context.explain(response, problem, corsOrigin, event);
  }

  #clientClosed(): void {
    this.#closed = true;
    this.#context.watchdog.delete(this);
    this.#leaving.abort();
    this.#upstreamRequest?.on('error', () => {}).destroy();
    this.#upstream?.destroy();
    const { event } = this.#f;
    if (this.#upstream !== undefined) {
      event.bytesIn = this.#client.bytesRead;
      event.bytesOut = this.#client.bytesWritten;
    }
    event.durationMs = this.#context.clock.monoMs() - event.startedMonoMs;
    this.#context.observe(event);
  }
}
