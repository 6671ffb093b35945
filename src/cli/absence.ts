import { connect } from 'node:net';
import { formatAddress, isLoopbackName, type ListenAddress } from '../config/values/addresses.ts';
import { WHAT_STARTED_IT } from '../observe/why/trouble-words.ts';
import type { Unanswered } from './admin-client.ts';
import type { OptionValues } from './command.ts';
import { listenOf } from './configuration.ts';

const LIMIT_MS = 1_000;

const ENDED = [
  `If it was running, it has ended or was killed: ${WHAT_STARTED_IT} says how, and the end of the log of bearerd says why.`,
  `Its exit code says more:
  71 = an address was taken or not allowed
  66 or 78 = a fault of the configuration ("bearerd check" names each)
  0 = it was told to stop
  1 = it was told to stop, and requests were cut
  134 = its heap was full
  137 = it was killed (SIGKILL, or the system had no memory left)`,
];

const SILENT = [
  'Its process accepts connections and answers nothing: it is stopped (kill -STOP, Ctrl-Z, a debugger, docker pause), or it gets no CPU.',
  'Look at it: ps -eo pid,stat,pcpu,args | grep bearerd. With T as STAT it is stopped, and kill -CONT PID lets it go on; requests wait until then.',
];

/** What a person can look at if no bearerd answers, a line each. */
export async function absence({ kind }: Unanswered, values: OptionValues): Promise<readonly string[]> {
  if (kind === 'silent') return SILENT;
  return kind === 'absent' ? [...(await takenPlaces(values)), ...ENDED] : [];
}

/** Another server at the proxy's own address: bearerd can't start while it is there. */
async function takenPlaces(values: OptionValues): Promise<string[]> {
  const addresses = await listenOf('listen', values).catch(() => []);
  const taken = await Promise.all(
    addresses.map(async (address) => ((await isTaken(address)) ? [address] : [])),
  );
  return taken.flat().map((address) => {
    const at = formatAddress(address);
    return `Something else listens at ${at}, the address of the proxy, so bearerd can't start there (exit code 71). Stop it, or give bearerd another address with BEARERD_LISTEN; then start bearerd. If what listens is bearerd, its admin listener is elsewhere.`;
  });
}

function isTaken(address: ListenAddress): Promise<boolean> {
  if (address.kind === 'unix' || address.port === 0) return Promise.resolve(false);
  const { port, host } = address;
  const isHere = isLoopbackName(host) || host === '0.0.0.0' || host === '::';
  const socket = connect({ port, host: isHere ? 'localhost' : host });
  return new Promise<boolean>((resolve) => {
    socket
      .setTimeout(LIMIT_MS, () => resolve(false))
      .once('connect', () => resolve(true))
      .once('error', () => resolve(false));
  }).finally(() => socket.destroy());
}
