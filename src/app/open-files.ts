/** Files besides those of clients: listeners, logs, logins, the admin listener, refused clients. */
const RESERVED = 80;
const FEWEST = 8;

/**
 * How many files the process may have open. Node has raised its soft limit to the hard one at the start.
 * Infinity if the system has no such limit, or doesn't report one.
 */
export function openFilesLimit(): number {
  // Else the report looks up the host names of all peers. Node's types don't know the setting.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    userLimits?: { open_files?: { soft?: number | string } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Number.POSITIVE_INFINITY;
}

/** How many clients fit below that limit: each may need a connection to the upstream, too. */
export function connectionsWithin(openFiles: number): number {
  return Math.max(FEWEST, Math.floor((openFiles - RESERVED) / 2));
}
