interface ListenWords {
  readonly reason: string;
  /** What else to do than to give another address. */
  readonly remedy: string;
}

const OTHER: ListenWords = { reason: '', remedy: '' };

/** Why bearerd can't listen on an address, by the system's code. */
const BY_CODE: Readonly<Record<string, ListenWords>> = {
  EADDRINUSE: { reason: 'the address is already in use', remedy: 'Stop what listens there, or ' },
  EACCES: { reason: 'permission denied', remedy: '' },
  EADDRNOTAVAIL: { reason: 'this machine has no such address', remedy: '' },
  ENOTFOUND: { reason: 'the name does not resolve', remedy: '' },
};

/** @param code the system's error code */
export function listenReason(code: string | undefined): string {
  return BY_CODE[code ?? '']?.reason ?? code ?? 'unknown error';
}

/** What else to do. The text stands before "give another address", so it is empty or ends in "or ". */
export function listenRemedy(code: string | undefined, port: number | undefined): string {
  const { remedy } = BY_CODE[code ?? ''] ?? OTHER;
  const isLow = code === 'EACCES' && port !== undefined && port < 1024;
  return isLow ? 'A port below 1024 needs CAP_NET_BIND_SERVICE or a socket unit: allow it, or ' : remedy;
}
