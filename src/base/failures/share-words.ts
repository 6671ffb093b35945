import { failureOfCode } from './kind.ts';
import { CONNECTION_FAILURES } from './words.ts';

/** Why tokens are not shared: what is wrong with a Redis or Valkey, and what to do about it. */
interface ShareFailure {
  readonly what: string;
  readonly remedy: string;
}

const NOT_THERE: ShareFailure = {
  what: 'cannot be reached: nothing listens at this address',
  remedy: 'Check the address, and that Redis runs.',
};
const PRIMARY = 'Give the address of the primary.';

/** By the code of the system or of TLS, or by the first word of the engine's error reply. */
const BY_CODE: Readonly<Record<string, ShareFailure>> = {
  ECONNREFUSED: NOT_THERE,
  ENOENT: NOT_THERE,
  EACCES: {
    what: 'cannot be reached: bearerd may not open the socket',
    remedy: "Give bearerd's user the right to write to it.",
  },
  CLUSTER: {
    what: 'is a Redis Cluster, which is not supported',
    remedy: 'Give the address of a Redis or Valkey without cluster mode.',
  },
  SENTINEL: { what: 'is a Redis Sentinel, which is not supported', remedy: PRIMARY },
  READONLY: { what: 'is a replica, which accepts no writes', remedy: PRIMARY },
  WRONGPASS: {
    what: 'refuses the user or the password',
    remedy: 'Check both in the URL; a % in them is %25.',
  },
  NOAUTH: { what: 'asks for a password', remedy: 'Put the user and the password into the URL.' },
  NOPERM: {
    what: 'does not allow its user the commands that bearerd needs',
    remedy: 'Give it the rights that docs/fleet.md lists.',
  },
  OOM: { what: 'has no memory left', remedy: 'Raise its maxmemory, or let it evict keys.' },
};

/** @param tls whether the URL says rediss:// */
export function shareFailure(code: string, tls: boolean): ShareFailure {
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  const failure = failureOfCode(code);
  const { what } = CONNECTION_FAILURES[failure];
  switch (failure) {
    case 'connect-timeout':
      return {
        what: 'gives no answer in time',
        remedy: `Check the address, the network and its load${tls ? '; if the port does not speak TLS, write redis://' : ''}.`,
      };
    case 'https-on-plain-port':
      return { what, remedy: 'Write redis://, or name the port that speaks TLS.' };
    case 'closed':
      return {
        what: 'closed the connection',
        remedy: tls
          ? 'Look at the log of Redis.'
          : 'If the port speaks TLS, write rediss://; else look at the log of Redis.',
      };
    case 'dns':
      return { what, remedy: "Check how the host is spelt, and this machine's DNS." };
    case 'other':
      return { what: `answers ${code}`, remedy: 'Check that it is a Redis or Valkey of version 6 or later.' };
    default:
      return { what, remedy: CONNECTION_FAILURES[failure].remedy };
  }
}
