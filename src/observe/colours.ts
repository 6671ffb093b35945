/**
 * May lines hold escape sequences? `NO_COLOR` (no-color.org) beats `FORCE_COLOR`, which beats what the terminal is:
 * a user who asked for no colours must never get one. As for Node, `FORCE_COLOR=0` forces nothing.
 */
export function wantsColours(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const { NO_COLOR = '', FORCE_COLOR = '', TERM } = env;
  if (NO_COLOR !== '') return false;
  if (FORCE_COLOR === '0' || FORCE_COLOR === 'false') return false;
  return FORCE_COLOR !== '' || (isTerminal && TERM !== 'dumb');
}
