import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accepted, Known } from './authorize.ts';
import { findCompany, summaryOf } from './demo-data.ts';
import { echo } from './echo.ts';
import { sendEvents } from './event-stream.ts';
import { ApiError, badRequest, decodeUtf8, mediaType, parseJson, readBody, sendJson } from './http.ts';
import { findPeople } from './people.ts';
import type { MockState } from './state.ts';

/** One request to a known path. `param` is the decoded group of the path's pattern. */
interface Call {
  readonly mock: MockState;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Undefined if the path needs none. */
  readonly known: Known | undefined;
  readonly param: string;
}

interface Endpoint {
  readonly path: RegExp;
  /** Undefined accepts every method. */
  readonly methods: readonly string[] | undefined;
  readonly takes: Accepted;
  readonly answer: (call: Call) => void | Promise<void>;
}

const GET = ['GET', 'HEAD'];

/** The first two are endpoints of the API. The others imitate what its documentation says in words. */
const ENDPOINTS: readonly Endpoint[] = [
  {
    path: /^\/api\/people\/v1\/(o_[^/]+)\/find$/,
    methods: ['POST'],
    takes: ['token', 'api-key'],
    answer: async ({ mock, request, response, param }) => {
      needRoleOn(mock, param);
      if (mediaType(request) !== 'application/json')
        throw badRequest('the content type must be application/json');
      sendJson(response, 200, { people: findPeople(parseJson(decodeUtf8(await readBody(request)))) });
    },
  },
  {
    path: /^\/companies\/([^/]+)$/,
    methods: GET,
    takes: ['token', 'api-key'],
    answer: ({ response, param }) => {
      const company = findCompany(param);
      if (company === undefined) throw new ApiError(404, 'not_found', 'no company has this name or domain');
      sendJson(response, 200, company);
    },
  },
  {
    // Customer-specific data, which needs an access token.
    path: /^\/api\/reports\/v1\/(o_[^/]+)\/summary$/,
    methods: GET,
    takes: ['token'],
    answer: ({ mock, response, param }) => {
      needRoleOn(mock, param);
      sendJson(response, 200, summaryOf(param));
    },
  },
  {
    // The real API accepts a token everywhere. This path shows whether a route uses its API key.
    path: /^\/api\/keys-only\/v1\/lookup$/,
    methods: GET,
    takes: ['api-key'],
    answer: ({ response }) => sendJson(response, 200, { credential: 'api-key' }),
  },
  {
    path: /^\/api\/admin\/v1\/roles$/,
    methods: GET,
    takes: ['token'],
    answer: () => {
      throw missingRole('the credential lacks the role "admin"');
    },
  },
  {
    path: /^\/health$/,
    methods: GET,
    takes: [],
    answer: ({ response }) => sendJson(response, 200, { status: 'ok' }),
  },
  { path: /^\/echo(?:\/.*)?$/, methods: undefined, takes: ['token', 'api-key'], answer: echo },
  { path: /^\/events$/, methods: GET, takes: ['token'], answer: ({ response }) => sendEvents(response) },
];

/** The endpoint of an undecoded path, and its decoded `param`. Throws the 404. */
export function findEndpoint(path: string): { readonly endpoint: Endpoint; readonly param: string } {
  for (const endpoint of ENDPOINTS) {
    const match = endpoint.path.exec(path);
    if (match !== null) return { endpoint, param: decode(match[1] ?? '') };
  }
  throw new ApiError(404, 'not_found', 'this mock has no such path');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badRequest('the path has an escape that is not UTF-8');
  }
}

function needRoleOn({ options }: MockState, orgId: string): void {
  if (orgId !== options.orgId) throw missingRole('the credential has no role on this organization');
}

function missingRole(message: string): ApiError {
  return new ApiError(403, 'missing_role', message);
}
