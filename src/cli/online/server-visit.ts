import type { Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { codeOf, failureOfCode } from '../../base/failures/kind.ts';
import type { ConnectionFailure } from '../../base/failures/words.ts';
import { type ConnectionProblem, connectionProblem } from '../../login/connection-failure.ts';
import { serverNowMs } from '../../login/expiry.ts';
import { parseHttpDate } from '../../login/http-date.ts';
import { answerOf, type LoginServer } from '../../login/login-server.ts';

/** From the first step to the answer's head: as long as a login has. */
const VISIT_TIMEOUT_MS = 10_000;
const TLS_TIMEOUT_MS = 2_000;

/** What a server does that takes connections, and has no answer to a HEAD. */
const SILENCE: ReadonlySet<ConnectionFailure> = new Set(['closed', 'http-on-tls-port', 'answer-timeout']);

interface Certified {
  readonly protocol: string;
  readonly certificateEndsMs: number;
}

/** What was seen of one server by asking it for one answer. */
export interface Visit {
  /** Undefined if no TLS was spoken. */
  readonly tls: Certified | undefined;
  readonly status: number | undefined;
  /** How far our clock is ahead of the server's; undefined if the server tells no time. */
  readonly clockAheadMs: number | undefined;
  /** What it did in place of an answer, if it took the connection: some servers know no HEAD. */
  readonly silence: string | undefined;
  /** Why it can't be reached. */
  readonly problem: ConnectionProblem | undefined;
}

/** Sends one HEAD without a credential, on a connection like those of logins. */
export async function visit(
  server: LoginServer,
  path: string,
  clock: Clock,
  limitMs = VISIT_TIMEOUT_MS,
): Promise<Visit> {
  const timeout = AbortSignal.timeout(limitMs);
  const sentMonoMs = clock.monoMs();
  const steps = { connected: false, answered: false };
  let tls: Certified | undefined;
  const seen = observed(server, (socket) => {
    tls = certified(socket);
  });
  try {
    const answer = await answerOf(seen, { method: 'HEAD', path, headers: [] }, steps, timeout);
    answer.on('error', () => {}).destroy();
    const receivedWallMs = clock.wallMs();
    const elapsedMs = clock.monoMs() - sentMonoMs;
    const serverDateMs = parseHttpDate(answer.headers.date);
    const serverMs = serverNowMs({ receivedWallMs, elapsedMs, serverDateMs });
    const clockAheadMs = serverDateMs === undefined ? undefined : receivedWallMs - serverMs;
    return { tls, status: answer.statusCode, clockAheadMs, silence: undefined, problem: undefined };
  } catch (cause) {
    const progress = { ...steps, late: timeout.aborted, limitMs };
    const problem = connectionProblem(cause, server.origin, progress);
    const seen = { tls, status: undefined, clockAheadMs: undefined };
    const isSilent = steps.connected && SILENCE.has(problem.failure);
    if (!isSilent || (tls === undefined && (await speaksTls(server)))) {
      return { ...seen, silence: undefined, problem };
    }
    const what = timeout.aborted ? `none within ${limitMs / 1000} s` : `it closed it, ${codeOf(cause)}`;
    return { ...seen, silence: `no answer to HEAD ${path} (${what})`, problem: undefined };
  }
}

/** True if a port that an `http://` URL names speaks TLS. Sends no request. */
function speaksTls(server: LoginServer): Promise<boolean> {
  const timeout = AbortSignal.timeout(TLS_TIMEOUT_MS);
  return new Promise((resolve) => {
    const end = (speaks: boolean, socket: Socket | null) => {
      socket?.destroy();
      resolve(speaks);
    };
    server.connect((error, socket) => {
      if (error !== null) return resolve(false);
      const secure = connectTls({ socket });
      timeout.addEventListener('abort', () => end(false, secure), { once: true });
      secure
        .on('secureConnect', () => end(true, secure))
        // One that isn't trusted is a certificate all the same: the port speaks TLS.
        .on('error', (cause) => end(/^tls-/.test(failureOfCode(codeOf(cause))), secure));
    }, timeout);
  });
}

/** The same server; the caller gets its connection while it is open. */
function observed(server: LoginServer, look: (socket: Socket) => void): LoginServer {
  const { origin, host, headerSizeBytes } = server;
  const connect: LoginServer['connect'] = (done, signal) =>
    server.connect((...result) => {
      if (result[1] !== null) look(result[1]);
      done(...result);
    }, signal);
  return { origin, host, headerSizeBytes, connect };
}

function certified(socket: Socket): Certified | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const certificateEndsMs = Date.parse(socket.getPeerCertificate().valid_to);
  return { protocol: socket.getProtocol() ?? 'TLS', certificateEndsMs };
}
