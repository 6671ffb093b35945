import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CredentialKind } from './authorize.ts';
import { readBody, sendJson } from './http.ts';

interface Echoed {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly kind: CredentialKind | undefined;
}

/** Answers with the request as it arrived: `path` with its query, a repeated header as a list. */
export async function echo({ request, response, kind }: Echoed): Promise<void> {
  const bodyLength = (await readBody(request)).length;
  const { method, url: path, headersDistinct } = request;
  sendJson(response, 200, { method, path, headers: shownHeaders(headersDistinct, kind), bodyLength });
}

/** The credential is the proxy's secret, which its client must not see: it becomes its kind. */
function shownHeaders(headers: NodeJS.Dict<string[]>, kind: CredentialKind | undefined) {
  const shown = Object.entries(headers).map(([name, lines = []]) => {
    if (name === 'authorization') return [name, { kind }];
    return [name, lines.length === 1 ? lines[0] : lines];
  });
  return Object.fromEntries(shown);
}
