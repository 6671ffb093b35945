import { appendFileSync } from 'node:fs';
import type { Test } from 'tap';
import { run } from '../support/cli.ts';

/** Gets a page of `bearerd why` for each fault, for a reader who is shown that alone; undefined where none is wanted. */
export const WHY_FILE = process.env.FAULTS_WHY;

/** What `bearerd why` prints. @param admin the address of the admin listener, as a setting has it */
export async function whyPage(t: Test, admin: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { stdout, stderr } = await run(t, ['why'], { ...env, BEARERD_ADMIN_LISTEN: admin });
  return `${stdout}${stderr}`.replace(/^bearerd: /gm, '');
}

export function keepPage(fault: string, page: string): void {
  if (WHY_FILE !== undefined) appendFileSync(WHY_FILE, `=== ${fault}\n\n${page}\n`);
}
