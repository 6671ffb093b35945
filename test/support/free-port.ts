import { createServer } from 'node:net';

/** Below the ports that the system gives out by itself, on each system that we know. */
const PORTS = { from: 10_000, count: 20_000 };

/**
 * A free port, for a program that has to be given one. The system gives it to no other process, so that
 * no other test has taken it by the time that the program does.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = PORTS.from + Math.floor(Math.random() * PORTS.count);
    if (await isFree(port)) return port;
  }
  throw new Error('fifty ports are taken');
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .on('error', () => resolve(false))
      .listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
