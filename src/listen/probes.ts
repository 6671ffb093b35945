import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '../base/problem.ts';
import type { ListenAddress } from '../config/config.ts';
import { isRemotelyReachable } from '../config/values/addresses.ts';
import { Departures } from '../forward/client/departures.ts';
import { answerProblem } from '../forward/client/problem.ts';
import { splitTarget } from '../routes/path.ts';
import { type AdminView, healthText } from './admin-endpoints.ts';
import { HttpListeners } from './http-listeners.ts';

type ProbesView = Pick<AdminView, 'healthy' | 'readiness'>;

interface Sight {
  readonly good: boolean;
  readonly type: string;
  readonly text: string;
}

const CONNECTION_LIMIT = 1_000;
const NOT_HERE = new Problem('no-route');
const NOT_SO = new Problem('method-refused', { allow: 'GET, HEAD' });

/**
 * Answers probes, and nothing else: the kubelet has no caller key and can't reach loopback, and the admin listener
 * has more to show than other machines should see. So it may be on any address.
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
   * Listens on every address; gives the URLs.
   *
   * @throws ListenError naming the address. What was opened before is for `close` to close.
   */
  async listen(addresses: readonly ListenAddress[]): Promise<string[]> {
    const urls: string[] = [];
    for (const address of addresses) {
      // By the address that was opened, and not by the one that a request came to: the first is what was decided.
      const listeners = this.#create(isRemotelyReachable(address));
      this.#listeners.push(listeners);
      urls.push(...(await listeners.listen([address], listeners.createServer())));
    }
    return urls;
  }

  close(): void {
    for (const listeners of this.#listeners) listeners.destroyAll();
  }

  #create(isBare: boolean): HttpListeners {
    return new HttpListeners({
      handler: (request, response) => answer(this.#view, isBare, request, response),
      headerSizeBytes: this.#headerSizeBytes,
      maxConnections: () => CONNECTION_LIMIT,
      shouldUpgrade: () => false,
      onUpgrade: (_request, socket) => socket.destroy(),
      departures: new Departures(),
      onRefused: () => undefined,
    });
  }
}

/** @param isBare answers with a status alone: the body names credentials and says why they fail. */
function answer(view: ProbesView, isBare: boolean, request: IncomingMessage, response: ServerResponse): void {
  const sight = look(view, splitTarget(request.url!)?.path);
  if (sight === undefined) {
    answerProblem(response, NOT_HERE);
  } else if (request.method !== 'GET' && request.method !== 'HEAD') {
    answerProblem(response, NOT_SO);
  } else {
    const body = Buffer.from(isBare ? '' : sight.text);
    response.writeHead(sight.good ? 200 : 503, {
      'cache-control': 'no-store',
      'content-length': body.length,
      ...(!isBare && { 'content-type': sight.type }),
    });
    response.end(body);
  }
}

function look({ healthy, readiness }: ProbesView, path: string | undefined): Sight | undefined {
  if (path === '/healthz') return { good: healthy(), type: 'text/plain', text: healthText(healthy()) };
  if (path !== '/readyz') return undefined;
  const state = readiness();
  return { good: state.ready, type: 'application/json; charset=utf-8', text: JSON.stringify(state) };
}
