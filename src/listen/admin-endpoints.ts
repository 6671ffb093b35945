import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type ConfigFault, faultAsJson } from '../base/config-error.ts';
import { Problem } from '../base/problem.ts';
import { answerProblem } from '../forward/client/problem.ts';
import type { Guard } from './guard.ts';
import type { StatusFeed } from './status-feed.ts';

/** The status page: its files by name, and what a browser may load and run. */
interface Page {
  readonly files: ReadonlyMap<string, { readonly type: string; readonly text: string }>;
  readonly contentSecurityPolicy: string;
}

/** A report, for programs and as text for people. */
interface Report {
  readonly report: unknown;
  readonly text: () => Promise<string>;
}

/** What the admin listener shows; each function is called anew for each request. */
export interface AdminView {
  readonly guard: () => Guard;
  readonly healthy: () => boolean;
  readonly readiness: () => { readonly ready: boolean };
  readonly status: () => unknown;
  /** The last requests. */
  readonly requests: () => unknown;
  /** Why a remembered request went as it did; undefined if the ID is not known. */
  readonly why: (id: string) => Report | undefined;
  /** What is wrong with the whole process; the text also explains the last failed request. */
  readonly troubles: () => Report & {
    /** The report of the last failed request; undefined if none has failed. */
    readonly lastFailed: unknown;
  };
  readonly configuration: () => Promise<unknown>;
  readonly page: () => Promise<Page>;
  readonly metrics: () => Promise<{ contentType: string; text: string }>;
  /** Renews every session token. @returns the names of those renewed, and the reasons of those that failed, by name */
  readonly renew: () => Promise<{
    readonly renewed: readonly string[];
    readonly failed: Readonly<Record<string, string>>;
  }>;
  /** Reads the whole configuration again; gives undefined during a stop. Undefined if there is no source to read it from. */
  readonly reload: (() => Promise<Reloaded | undefined>) | undefined;
}

/** The result of a reload. */
export type Reloaded =
  | { readonly reloaded: true; readonly restartNeededFor: readonly string[] }
  /** The old configuration stays in use. */
  | { readonly reloaded: false; readonly faults: readonly ConfigFault[] };

/** The endpoints by route: their methods, and whether they need no caller key, whatever the address. */
export type Endpoints = ReadonlyMap<string, Endpoint>;

interface Endpoint {
  readonly methods: readonly string[];
  readonly openToProbes: boolean;
}

/** The kubelet and Prometheus have no caller key. */
const OPEN_TO_PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
/** The files of the page. A wildcard, because the router limits a `:name` and answers a longer one in its own words. */
const PAGE_PATH = '/page/';
const PAGE_ROUTE = `${PAGE_PATH}*`;
/** Each remembered request, by its ID, which may hold a slash. */
const REQUEST_PATH = '/requests/';
const REQUEST_ROUTE = `${REQUEST_PATH}*`;
const LAST_FAILED = 'last-failed';

/** The route of a path. */
export function endpointOf(path: string): string {
  if (path.startsWith(PAGE_PATH)) return PAGE_ROUTE;
  return path.startsWith(REQUEST_PATH) ? REQUEST_ROUTE : path;
}

/** Adds the routes. @returns the endpoints, for the checks before the router */
export function addEndpoints(app: FastifyInstance, view: AdminView, feed: StatusFeed): Endpoints {
  const endpoints = new Map<string, { methods: string[]; openToProbes: boolean }>();
  app.addHook('onRoute', ({ url, method }) => {
    const endpoint = endpoints.get(url) ?? { methods: [], openToProbes: OPEN_TO_PROBES.has(url) };
    endpoint.methods = [...endpoint.methods, ...[method].flat()].sort();
    endpoints.set(url, endpoint);
  });
  app.setNotFoundHandler((_request, reply) => answerNotHere(reply));
  // The client may not learn what went wrong in bearerd.
  app.setErrorHandler((_error, _request, reply) => reply.code(500).send());
  // To Fastify, `hasBody: false` means that it doesn't read the body, whatever its type.
  app.addHttpMethod('POST', { hasBody: false, overrideExisting: true });
  addForPrograms(app, view);
  addForPeople(app, view, feed);
  return endpoints;
}

/** Says where the proxy is, since users mix up the two ports. */
export function notHere(): Problem {
  return new Problem('no-route', {
    detail:
      'The admin listener has no such path. Requests to the API go to the address of the proxy (BEARERD_LISTEN).',
  });
}

export function answerNotHere(reply: FastifyReply): void {
  answerWith(reply, notHere());
}

const UNKNOWN_REQUEST =
  'This request is not known: bearerd remembers the last 1,000 requests that are over, and the last 200 that failed.\n';
const NONE_FAILED = 'No request has failed since the start.\n';

function answerWith(reply: FastifyReply, problem: Problem): FastifyReply {
  reply.hijack();
  answerProblem(reply.raw, problem);
  return reply;
}

function addForPrograms(
  app: FastifyInstance,
  { healthy, readiness, metrics, renew, reload }: AdminView,
): void {
  app.get('/healthz', async (_request, reply) => {
    const isHealthy = healthy();
    return reply
      .code(isHealthy ? 200 : 503)
      .type('text/plain')
      .send(healthText(isHealthy));
  });
  app.get('/readyz', async (_request, reply) => {
    const state = readiness();
    return reply
      .code(state.ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send(state);
  });
  app.get('/metrics', async (_request, reply) => {
    const { contentType, text } = await metrics();
    return reply.type(contentType).send(text);
  });
  app.post('/renew', async (_request, reply) => {
    const result = await renew();
    return reply.code(Object.keys(result.failed).length === 0 ? 200 : 502).send(result);
  });
  if (reload !== undefined) {
    app.post('/reload', async (_request, reply) => {
      const result = await reload();
      if (result === undefined) return answerWith(reply, new Problem('draining', { retryAfterS: 1 }));
      if (result.reloaded) return reply.send(result);
      return reply.code(409).send({ ...result, faults: result.faults.map(faultAsJson) });
    });
  }
}

function addForPeople(app: FastifyInstance, view: AdminView, feed: StatusFeed): void {
  const { status, requests, configuration, page } = view;
  for (const [path, show] of Object.entries({
    '/status': status,
    '/requests': requests,
    '/configuration': configuration,
  })) {
    app.get(path, async (_request, reply) => reply.header('cache-control', 'no-store').send(await show()));
  }
  app.get<{ Params: { '*': string } }>(REQUEST_ROUTE, async ({ params, headers }, reply) => {
    const id = params['*'];
    if (id === LAST_FAILED) return sendLastFailed(headers, reply, view.troubles());
    const why = view.why(id);
    if (why !== undefined) return sendReport(headers, reply, why);
    return isForPeople(headers) ? sendText(reply.code(404), UNKNOWN_REQUEST) : answerNotHere(reply);
  });
  app.get('/troubles', ({ headers }, reply) => sendReport(headers, reply, view.troubles()));
  app.get('/events', { exposeHeadRoute: false }, (_request, reply) => {
    reply.hijack();
    const problem = feed.open(reply.raw);
    if (problem !== undefined) answerProblem(reply.raw, problem);
  });
  app.get('/', (_request, reply) => sendFile(reply, page, 'page.html'));
  app.get<{ Params: { '*': string } }>(PAGE_ROUTE, ({ params }, reply) => sendFile(reply, page, params['*']));
}

/** A browser asks for text/html first, and gets plain text. */
function isForPeople({ accept }: IncomingHttpHeaders): boolean {
  return accept?.startsWith('text/') === true;
}

async function sendReport(headers: IncomingHttpHeaders, reply: FastifyReply, { report, text }: Report) {
  if (isForPeople(headers)) return sendText(reply, await text());
  return sendOnce(reply, 'application/json', JSON.stringify(report));
}

/** A program gets the report of the request alone, a person the whole text. */
async function sendLastFailed(
  headers: IncomingHttpHeaders,
  reply: FastifyReply,
  { lastFailed, text }: ReturnType<AdminView['troubles']>,
) {
  if (!isForPeople(headers))
    return lastFailed === undefined
      ? answerNotHere(reply)
      : sendOnce(reply, 'application/json', JSON.stringify(lastFailed));
  if (lastFailed !== undefined) return sendText(reply, await text());
  return sendText(reply.code(404), `${NONE_FAILED}\n${await text()}`);
}

function sendText(reply: FastifyReply, text: string): FastifyReply {
  return sendOnce(reply, 'text/plain', text);
}

function sendOnce(reply: FastifyReply, type: string, text: string): FastifyReply {
  return reply
    .header('cache-control', 'no-store')
    .header('vary', 'accept')
    .type(`${type}; charset=utf-8`)
    .send(text);
}

async function sendFile(reply: FastifyReply, page: AdminView['page'], name: string): Promise<void> {
  const { files, contentSecurityPolicy } = await page();
  const file = files.get(name);
  if (file === undefined) {
    answerNotHere(reply);
    return;
  }
  await reply
    .type(file.type)
    .header('cache-control', 'no-store')
    .header('content-security-policy', contentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .send(file.text);
}

/** The body of `/healthz`, with the reason if the process should be restarted. */
export function healthText(isHealthy: boolean): string {
  return isHealthy ? 'ok\n' : 'too many internal errors: see the log\n';
}
