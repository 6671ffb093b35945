import { freePort } from '../children.ts';
import type { Origin, Upstream } from '../upstream/upstream.ts';
import { verify } from '../verify.ts';
import { INSTALLED } from './all.ts';
import { bearerd, scrubbingBearerd } from './bearerd.ts';
import { type Contender, Running } from './contender.ts';
import { haproxy } from './haproxy.ts';
import { lanes, lanesForSmallHeads } from './lanes.ts';

/** The contenders, each started when it is first asked for, and verified before it is handed out. */
export class Fleet {
  readonly #upstream: Upstream;
  readonly #running = new Map<string, Promise<Running>>();

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
  }

  async all(): Promise<Running[]> {
    const all: Running[] = [];
    for (const contender of INSTALLED) all.push(await this.#get(contender, this.#upstream.plain));
    return all;
  }

  /** Those of the names that are installed, ours always first. */
  async some(...names: readonly string[]): Promise<Running[]> {
    return (await this.all()).filter(({ name }) => names.includes(name));
  }

  async secure(): Promise<Running[]> {
    const all: Running[] = [];
    for (const contender of INSTALLED.filter(({ overTls }) => overTls)) {
      all.push(await this.#get(contender, this.#upstream.secure));
    }
    return all;
  }

  /** Ours, as it is and with scrub: whose answers can't show the credential that `verify` wants to see. */
  async scrubbing(): Promise<[Running, Running]> {
    const { plain } = this.#upstream;
    const scrubbing = Running.of(scrubbingBearerd, await freePort(), plain);
    this.#running.set(scrubbingBearerd.name, scrubbing);
    return [await this.#get(bearerd, plain), await scrubbing];
  }

  /** HAProxy alone, and in front of bearerd for large heads and for small ones; none where it is not installed. */
  async lanes(): Promise<Running[]> {
    if (haproxy.version === undefined) return [];
    const all: Running[] = [];
    for (const each of [haproxy, lanes, lanesForSmallHeads])
      all.push(await this.#get(each, this.#upstream.plain));
    return all;
  }

  async stop(): Promise<void> {
    const all = await Promise.allSettled(this.#running.values());
    await Promise.all(all.map((each) => (each.status === 'fulfilled' ? each.value.stop() : undefined)));
  }

  #get(contender: Contender, origin: Origin): Promise<Running> {
    const key = `${contender.name} ${origin.port}`;
    const running = this.#running.get(key) ?? start(contender, origin);
    this.#running.set(key, running);
    return running;
  }
}

async function start(contender: Contender, origin: Origin): Promise<Running> {
  const running = await Running.of(contender, await freePort(), origin);
  await verify(running);
  return running;
}
