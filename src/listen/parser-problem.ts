import { Problem } from '../base/problem.ts';

const SLOW_HEAD = new Problem('request-timeout', {
  remedy:
    'The client began a request and did not end its head within 60 s, a limit that no setting changes: look at the client and its network. Many at once are an attack by slow clients, or an unstable network.',
});

/** `GET /a b HTTP/1.1`: the parser reports a bad version, but it is the target that is wrong. */
const SPACE_IN_TARGET = /^[A-Za-z-]+ \/.*[ \t].* HTTP\/1\.[01]$/;

/** The problem for an error of Node's parser (`clientError`). @param methodRefused the answer to TRACE and CONNECT */
export function parserProblem(
  error: NodeJS.ErrnoException & { rawPacket?: Buffer; bytesParsed?: number },
  methodRefused: Problem,
): Problem {
  if (error.code === 'HPE_HEADER_OVERFLOW' || error.code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return new Problem('headers-too-large');
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return SLOW_HEAD;
  const line = requestLine(error.rawPacket);
  // They are refused before anything else is judged.
  if (/^(?:TRACE|CONNECT) /.test(line)) return methodRefused;
  const isPath = error.code === 'HPE_INVALID_URL' || SPACE_IN_TARGET.test(line);
  return new Problem(isPath ? 'bad-path' : 'bad-request');
}

function requestLine(packet: Buffer | undefined): string {
  if (packet === undefined) return '';
  const end = packet.indexOf('\n');
  return packet.toString('latin1', 0, end === -1 ? packet.length : end).trimEnd();
}
