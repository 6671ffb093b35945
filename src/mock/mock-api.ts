import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, isIPv6 } from 'node:net';
import { ListenError } from '../base/errors.ts';
import { listenReason } from '../base/failures/listen-words.ts';
import { type Behaviour, checkBehaviour, defaultBehaviour } from './behaviour.ts';
import { answerControl, isControlPath } from './control.ts';
import { answerData } from './data.ts';
import { pathOf, sendError } from './http.ts';
import { IssuedTokens } from './issued-tokens.ts';
import { DEMO_OPTIONS, type MockCredentials, type MockOptions } from './options.ts';
import { answerSession, SESSION_PATH } from './session.ts';
import type { MockState, MockStats } from './state.ts';

/** A running mock of the Identity and Data API. */
export interface MockApi {
  /** `http://host:port`, the value for `BEARERD_BASE_URL`. */
  readonly url: string;
  readonly port: number;
  readonly credentials: MockCredentials;
  /** Live counts. */
  readonly stats: Readonly<MockStats>;
  /** Changes settings for requests from now on. @throws UsageError that names the faults */
  behave(patch: Partial<Behaviour>): void;
  /** Makes every token issued so far invalid. */
  revokeAll(): void;
  /** Stops at once and closes open connections. */
  close(): Promise<void>;
}

/** @throws ListenError if the address can't be listened on */
export async function startMockApi(options: Partial<MockOptions> = {}): Promise<MockApi> {
  const mock = newState({ ...DEMO_OPTIONS, ...options });
  const server = createServer((request, response) => void answer(mock, request, response));
  const port = await listen(server, mock.options);
  const { clientId, clientSecret, username, password, apiKey, orgId, host } = mock.options;
  return {
    url: `http://${inUrl(host)}:${port}`,
    port,
    credentials: { clientId, clientSecret, username, password, apiKey, orgId },
    stats: mock.stats,
    behave(patch) {
      mock.behaviour = { ...mock.behaviour, ...checkBehaviour(patch) };
    },
    revokeAll: () => mock.tokens.revokeAll(),
    close: () => close(server),
  };
}

function inUrl(host: string): string {
  return isIPv6(host) ? `[${host}]` : host;
}

function newState(options: MockOptions): MockState {
  return {
    options,
    tokens: new IssuedTokens(options.now),
    stats: { requests: 0, unauthorized: 0, loginAttempts: 0, logins: 0 },
    behaviour: defaultBehaviour(options.tokenLifetimeMs),
  };
}

/** Never rejects: every error becomes an answer. */
async function answer(mock: MockState, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // A client that leaves early must not end the process.
  response.on('error', () => {});
  try {
    const path = pathOf(request.url!);
    if (isControlPath(path)) await answerControl(mock, request, response, path);
    else if (path === SESSION_PATH) await answerSession(mock, request, response);
    else await answerData(mock, request, response);
  } catch (error) {
    sendError(response, error);
  }
}

function listen(server: Server, { host, port }: MockOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new ListenError(`cannot listen on ${inUrl(host)}:${port}: ${listenReason(error.code)}`, {
          cause: error,
        }),
      );
    });
    server.listen({ host, port }, () => {
      // Later errors are failed accepts (too many open files, say), which are temporary.
      server.on('error', () => {});
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
