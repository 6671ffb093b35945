import { connect, type Socket } from 'node:net';
import { request } from '../support/gateway.ts';
import { BIG } from './scale.ts';
import type { Trouble, World } from './trouble.ts';

/** Connections that send these bytes at once and ignore the answer. */
function open(port: number, count: number, bytes: string): Socket[] {
  return Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}).on('connect', () => socket.write(bytes));
    return socket;
  });
}

const close = (sockets: readonly Socket[]) => {
  for (const socket of sockets) socket.destroy();
};

const held = (name: string, begin: (world: World) => Socket[]): Trouble => ({
  name: `client ${name}`,
  harms: false,
  excuses: [],
  begin: (world) => {
    const sockets = begin(world);
    return () => close(sockets);
  },
});

/** These requests use another route, so that they are not counted. */
const ODD = {
  upload: `${request('POST', '/odd/thing', `content-length: ${BIG.length}`)}${'x'.repeat(50_000)}`,
  download: request('GET', '/odd/big'),
  stream: request('GET', '/odd/events'),
  head: 'GET /odd/thing HTTP/1.1\r\nhost: local',
} as const;

const leaving: Trouble = {
  name: 'clients leave half-way',
  harms: false,
  excuses: [],
  begin: ({ program }, random) => {
    const here = new Set<Socket>();
    const kinds = Object.values(ODD);
    const come = () => {
      for (const socket of open(program.port, 3, kinds[Math.floor(random() * kinds.length)]!)) {
        here.add(socket);
        setTimeout(() => leave(socket, random()), 300 * random());
        socket.on('close', () => here.delete(socket));
      }
    };
    const timer = setInterval(come, 50);
    return () => {
      clearInterval(timer);
      close([...here]);
    };
  },
};

function leave(socket: Socket, dice: number): void {
  if (dice < 0.3) socket.end();
  else if (dice < 0.6) socket.destroy();
  else if (!socket.destroyed && !socket.connecting) socket.resetAndDestroy();
}

export const CLIENT_TROUBLES: readonly Trouble[] = [
  leaving,
  held('never reads', ({ program }) => open(program.port, 20, ODD.download).map((socket) => socket.pause())),
  held('never finishes a head', ({ program }) => open(program.port, 50, ODD.head)),
  held('says nothing', ({ program }) => open(program.port, 100, '')),
  held('of the admin listener hangs', ({ program }) => [
    ...open(program.adminPort, 5, 'GET /metrics HTTP/1.1\r\n'),
    ...open(program.adminPort, 5, request('GET', '/metrics').repeat(50)).map((socket) => socket.pause()),
    ...open(program.adminPort, 5, request('GET', '/events')).map((socket) => socket.pause()),
  ]),
];
