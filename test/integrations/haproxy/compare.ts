import type { HttpMessage } from '../../support/http-message.ts';
import type { Pair } from '../../support/lanes.ts';
import { ask, type RawResponse } from '../../support/raw-client.ts';
import { head, type UpstreamRequest } from '../../support/raw-upstream.ts';
import type { Generated } from './grammar.ts';

/** These headers belong to one hop, or may differ (docs/haproxy.md). */
const NOT_COMPARED = new Set(['via', 'connection']);

export interface Seen {
  readonly status: number;
  readonly code: string | undefined;
  readonly location: string | undefined;
  readonly link: string | undefined;
  readonly body: string;
  /** The requests that the upstream got. */
  readonly upstream: readonly string[];
}

/** Answers with the request's target and size, and with the `Location` and `Link` that the request asks for. */
export async function answer(request: UpstreamRequest, message: HttpMessage): Promise<string> {
  const body = request.method === 'HEAD' ? '' : `${request.target} ${message.body.length}`;
  const lines = [`content-length: ${request.method === 'HEAD' ? 7 : body.length}`];
  const [location, link] = [request.header('x-say-location'), request.header('x-say-link')];
  if (location !== undefined) lines.push(`location: ${location}`);
  if (link !== undefined) lines.push(`link: ${link}`);
  return head('200 OK', ...lines) + body;
}

export async function seen(pair: Pair, port: number, { method, bytes }: Generated): Promise<Seen> {
  const before = pair.upstream.requests.length;
  const response = await ask(port, bytes, method);
  const requests = pair.upstream.requests.slice(before);
  return {
    status: response.status,
    code: codeOf(response),
    location: response.header('location'),
    link: response.header('link'),
    body: codeOf(response) === undefined ? response.text : '',
    upstream: await Promise.all(requests.map(asText)),
  };
}

/** HAProxy's own answer to a request that its parser refuses. Allowed if the upstream got nothing. */
export function refusedByParser({ status, code, upstream }: Seen): boolean {
  return [400, 413, 422].includes(status) && code === undefined && upstream.length === 0;
}

function codeOf(response: RawResponse): string | undefined {
  if (response.header('content-type') !== 'application/problem+json') return undefined;
  return JSON.parse(response.text || '{"code":"(HEAD)"}').code;
}

async function asText(request: UpstreamRequest): Promise<string> {
  const { body } = await request.message;
  // Sorted by name; lines of one name keep their order.
  const lines = request.lines
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !NOT_COMPARED.has(name))
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([name, value]) => `${name}: ${value}`);
  return [`${request.method} ${request.target}`, ...lines, `${body.length} bytes`].join('\n');
}
