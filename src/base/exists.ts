import { existsSync } from 'node:fs';

/** Whether a file is there, as far as this process may know: `existsSync` throws if Node's permission model hides it. */
export function exists(path: string): boolean {
  try {
    return existsSync(path);
  } catch {
    return false;
  }
}
