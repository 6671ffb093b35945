import type { IncomingMessage, ServerResponse } from 'node:http';
import { UsageError } from '../base/errors.ts';
import { type Behaviour, checkBehaviour, DATA_MODES, LOGIN_MODES, parseBehaviour } from './behaviour.ts';
import { ApiError, badRequest, decodeUtf8, parseJson, readBody, sendJson } from './http.ts';
import type { MockState } from './state.ts';

const CONTROL_PATH = '/__mock';

export function isControlPath(path: string): boolean {
  return path === CONTROL_PATH || path.startsWith(`${CONTROL_PATH}/`);
}

/** 127.0.0.0/8 and ::1, also in the IPv4-mapped form of an IPv6 socket. */
export function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/i.test(address);
}

/** The mock's own endpoints. They need no credential and have no faults, so only clients on loopback may use them. */
export async function answerControl(
  mock: MockState,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
): Promise<void> {
  if (!isLoopback(request.socket.remoteAddress)) {
    throw new ApiError(403, 'forbidden', `${CONTROL_PATH} answers on loopback only`);
  }
  await command(mock, request, path);
  sendJson(response, 200, report(mock));
}

async function command(mock: MockState, request: IncomingMessage, path: string): Promise<void> {
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  switch (`${method} ${path}`) {
    case `GET ${CONTROL_PATH}`:
      return;
    case `POST ${CONTROL_PATH}`:
      mock.behaviour = { ...mock.behaviour, ...readPatch(decodeUtf8(await readBody(request))) };
      return;
    case `POST ${CONTROL_PATH}/revoke`:
      mock.tokens.revokeAll();
      return;
    default:
      throw new ApiError(
        404,
        'not_found',
        `there are GET ${CONTROL_PATH}, POST ${CONTROL_PATH} and POST ${CONTROL_PATH}/revoke`,
      );
  }
}

/** JSON, or the form of the command line, as in `curl -d login=down`. */
function readPatch(text: string): Partial<Behaviour> {
  try {
    return /^\s*\w+\s*=/.test(text) ? parseBehaviour(text) : checkBehaviour(parseJson(text));
  } catch (error) {
    throw error instanceof UsageError ? badRequest(error.message) : error;
  }
}

function report({ behaviour, stats, options }: MockState) {
  return {
    behaviour,
    choices: { login: LOGIN_MODES, data: DATA_MODES },
    stats,
    credentials: { clientId: options.clientId, username: options.username, apiKey: '***' },
  };
}
