/** @param {number | null} seconds */
export function duration(seconds) {
  if (seconds === null) return '–';
  const parts = /** @type {[number, string][]} */ ([
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]);
  const first = parts.findIndex(([n]) => n > 0);
  if (first === -1) return '0 s';
  return parts
    .slice(first, first + 2)
    .filter(([n]) => n > 0)
    .map(([n, unit]) => `${n}\u00a0${unit}`)
    .join(' ');
}

/** @param {number} ms */
export function milliseconds(ms) {
  if (ms >= 10_000) return duration(Math.round(ms / 1_000));
  return ms >= 1_000
    ? `${(ms / 1_000).toFixed(1)}\u00a0s`
    : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)}\u00a0ms`;
}

/** @param {number} rate */
export function perSecond(rate) {
  return rate === 0 ? '0' : rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en');
}

/** @param {import('../status.ts').Status['share']} share */
export function shared(share) {
  if (share === undefined) return '–';
  if (share.state === 'gone') return `not now (${share.reason})`;
  return share.state === 'ready' ? 'yes, sealed' : 'connecting';
}

/** @param {string} iso */
export function clock(iso) {
  return new Date(iso).toLocaleTimeString('en-GB');
}

/** @param {string} text */
export function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
