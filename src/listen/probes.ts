import type { ServerResponse } from 'node:http';
import { Problem } from '../base/problem.ts';
import { isRemotelyReachable, type ListenAddress } from '../config/values/addresses.ts';
import { answerProblem } from '../forward/client/problem.ts';
import { splitTarget } from '../routes/path.ts';
import { type AdminView, healthText } from './admin-endpoints.ts';
import type { HttpListeners } from './http-listeners.ts';
import type { JoinedRequest } from './joined-request.ts';
import { ownListeners } from './own-listeners.ts';

type ProbesView = Pick<AdminView, 'healthy' | 'readiness'>;

interface ProbeAnswer {
  readonly good: boolean;
  readonly type: string;
  readonly text: string;
}

const NO_ROUTE = new Problem('no-route');
const METHOD_REFUSED = new Problem('method-refused', { allow: 'GET, HEAD' });

/**
 * Answers probes only. The kubelet has no caller key and can't reach loopback, and the admin listener shows more than other
 * machines should see. So this listener may be on any address.
 */
export class ProbesListener {
  readonly #view: ProbesView;
  readonly #headerSizeBytes: number;
  readonly #listeners: HttpListeners[] = [];

  constructor(view: ProbesView, headerSizeBytes: number) {
    this.#view = view;
    this.#headerSizeBytes = headerSizeBytes;
  }

  /**
   * Listens on every address, and gives the URLs.
   *
   * @throws ListenError naming the address; `close` closes the sockets that were opened before
   */
  async listen(addresses: readonly ListenAddress[]): Promise<string[]> {
    const urls: string[] = [];
    for (const address of addresses) {
      // Decided by the address that is listened on, not by that at which a request arrives.
      const statusOnly = isRemotelyReachable(address);
      const listeners = ownListeners(
        (request, response) => answerProbe(this.#view, statusOnly, request, response),
        this.#headerSizeBytes,
        METHOD_REFUSED,
      );
      this.#listeners.push(listeners);
      urls.push(...(await listeners.listen([address], listeners.createServer())));
    }
    return urls;
  }

  close(): void {
    for (const listeners of this.#listeners) listeners.destroyAll();
  }
}

/** @param statusOnly answers with an empty body, because the body names credentials and says why they fail */
function answerProbe(
  view: ProbesView,
  statusOnly: boolean,
  request: JoinedRequest,
  response: ServerResponse,
): void {
  const found = probeAnswer(view, splitTarget(request.url)?.path);
  if (found === undefined) {
    answerProblem(response, NO_ROUTE);
  } else if (request.method !== 'GET' && request.method !== 'HEAD') {
    answerProblem(response, METHOD_REFUSED);
  } else {
    const body = Buffer.from(statusOnly ? '' : found.text);
    response.writeHead(found.good ? 200 : 503, {
      'cache-control': 'no-store',
      'content-length': body.length,
      ...(!statusOnly && { 'content-type': found.type }),
    });
    response.end(body);
  }
}

function probeAnswer({ healthy, readiness }: ProbesView, path: string | undefined): ProbeAnswer | undefined {
  if (path === '/healthz') {
    const good = healthy();
    return { good, type: 'text/plain', text: healthText(good) };
  }
  if (path !== '/readyz') return undefined;
  const state = readiness();
  return { good: state.ready, type: 'application/json; charset=utf-8', text: JSON.stringify(state) };
}
