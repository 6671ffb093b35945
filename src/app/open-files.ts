import { Problem } from '../base/problem.ts';

/** Files that no accepted client needs: listeners, logs, logins, the admin listener, refused clients. */
const RESERVED = 80;
const FEWEST = 8;

/**
 * How many files the process may have open. Node has raised its soft limit to the hard one at the start.
 * Infinity if the system has no such limit, or doesn't report one.
 */
export function openFilesLimit(): number {
  // Otherwise the report looks up the host names of all peers. Node's types lack this property.
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

/** How many client connections may be open, and what those beyond are told. */
export function connectionLimit(configured: number, fitting: number) {
  const maxConnections = Math.min(configured, fitting);
  const remedy =
    fitting < configured
      ? `The limit of open files allows only ${fitting} clients at a time: raise it (ulimit -n, LimitNOFILE= of systemd), or send fewer requests at once. Connections come free by themselves.`
      : `BEARERD_MAX_CONNECTIONS (limits.connections) lets ${configured} clients be connected at once, and so many were: raise it, or send fewer requests at once.`;
  return { maxConnections, tooMany: new Problem('overloaded', { retryAfterS: 1, remedy }) };
}
