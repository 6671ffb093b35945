import { connect } from 'node:net';
import type { LoginServer } from '../../src/login/login-server.ts';

/** Where a login goes, without the pools: a plain connection for each. */
export function loginServer(origin: string): LoginServer {
  const { host, hostname, port } = new URL(origin);
  return {
    origin,
    host,
    headerSizeBytes: 32 * 1024,
    connect(callback) {
      const socket = connect({ host: hostname, port: Number(port || 80) });
      socket.once('connect', () => callback(null, socket)).once('error', (error) => callback(error, null));
    },
  };
}
