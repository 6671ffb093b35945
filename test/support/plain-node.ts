/**
 * The command that runs Node as users do: tap puts hooks of its own into `NODE_OPTIONS` of every process that a test
 * starts, which costs each a tenth of a second, and looks at the working directory.
 */
export function plainNode(args: readonly string[], nodeOptions?: string): [command: string, args: string[]] {
  const options = nodeOptions === undefined ? ['-u', 'NODE_OPTIONS'] : [`NODE_OPTIONS=${nodeOptions}`];
  return ['/usr/bin/env', [...options, process.execPath, ...args]];
}
