import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { serverNowMs } from '../../login/expiry.ts';
import { parseHttpDate } from '../../login/http-date.ts';
import { type ConnectionProblem, connectionProblem } from '../../login/login-failure.ts';
import { answerOf, type LoginServer } from '../../login/one-answer.ts';

/** From the first step to the answer's head: as long as a login has. */
const VISIT_TIMEOUT_MS = 10_000;

interface Certified {
  readonly protocol: string;
  readonly certificateEndsMs: number;
}

/** What was seen of one server by asking it for one answer. */
export interface Visit {
  /** There where TLS was spoken. */
  readonly tls: Certified | undefined;
  readonly status: number | undefined;
  /** How far our clock is ahead of the server's; undefined where the server tells no time. */
  readonly clockAheadMs: number | undefined;
  /** Why there was no answer. */
  readonly problem: ConnectionProblem | undefined;
}

/** Sends one HEAD without a credential, on a connection like those of logins. */
export async function visit(server: LoginServer, path: string, clock: Clock): Promise<Visit> {
  const timeout = AbortSignal.timeout(VISIT_TIMEOUT_MS);
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
    return { tls, status: answer.statusCode, clockAheadMs, problem: undefined };
  } catch (cause) {
    const progress = { ...steps, late: timeout.aborted, limitMs: VISIT_TIMEOUT_MS };
    const problem = connectionProblem(cause, server.origin, progress);
    return { tls, status: undefined, clockAheadMs: undefined, problem };
  }
}

/** The same server, of whose connection somebody is told while it is open. */
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
