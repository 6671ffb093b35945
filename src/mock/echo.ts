import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Known } from './authorize.ts';
import { readBody, sendJson } from './http.ts';

interface Echoed {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly known: Known | undefined;
}

/** Answers with the request and its account: `path` has the query, and a repeated header is a list. */
export async function echo({ request, response, known }: Echoed): Promise<void> {
  const bodyLength = (await readBody(request)).length;
  const { method, url: path, headersDistinct } = request;
  const { account } = known ?? {};
  const headers = shownHeaders(headersDistinct, known?.kind);
  sendJson(response, 200, { method, path, ...(account !== undefined && { account }), headers, bodyLength });
}

/** The client must not see the proxy's credential: its kind is shown in its place. */
function shownHeaders(headers: NodeJS.Dict<string[]>, kind: Known['kind'] | undefined) {
  const shown = Object.entries(headers).map(([name, lines = []]) => {
    if (name === 'authorization') return [name, { kind }];
    return [name, lines.length === 1 ? lines[0] : lines];
  });
  return Object.fromEntries(shown);
}
