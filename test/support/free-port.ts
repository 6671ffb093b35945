import { createServer } from 'node:net';

/** Below those that the system gives to whoever asks for any, on each system that we know. */
const PORTS = { from: 10_000, count: 20_000 };

/**
 * A port that nobody has, for a program that can be given none in another way. The system gives it to nobody, so that
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
