import { createRequire } from 'node:module';

/** What Node has for itself: a socket that is bound, and that this process accepts nothing from. */
interface Tcp {
  readonly fd: number;
  bind(address: string, port: number): number;
  getsockname(out: { port?: number }): number;
  close(): void;
}

interface TcpWrap {
  readonly TCP: new (type: number) => Tcp;
  readonly constants: { readonly SERVER: number };
}

const { binding } = createRequire(import.meta.url)('node:process') as { binding(name: string): unknown };

/** A socket as systemd holds it: it outlives the process that listens, and connections wait in it. */
export class PassedSocket {
  readonly #tcp: Tcp;
  readonly port: number;

  constructor(address = '127.0.0.1') {
    const { TCP, constants } = binding('tcp_wrap') as TcpWrap;
    this.#tcp = new TCP(constants.SERVER);
    if (this.#tcp.bind(address, 0) !== 0) throw new Error('no port');
    const name: { port?: number } = {};
    this.#tcp.getsockname(name);
    this.port = name.port!;
  }

  get fd(): number {
    return this.#tcp.fd;
  }

  close(): void {
    this.#tcp.close();
  }
}
