const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const before = (wantedMajor: number, wantedMinor: number) =>
  major < wantedMajor || (major === wantedMajor && minor < wantedMinor);

/** Why a test of what only newer ones have is skipped on this Node; false where it runs. */
export const REPEATS_NO_LINE = before(24, 15) && 'this Node repeats no single-value line in HTTP/2';
export const ALLOWS_NO_NET = before(25, 0) && 'the permission model of this Node knows no network';
