import { loginServerOf, logsIn } from '../../app/logins.ts';
import { LoginError } from '../../base/login-error.ts';
import type { Config } from '../../config/config.ts';
import type { CredentialConfig } from '../../config/sections/credentials/credential.ts';
import { KEY_NOT_TRIED } from '../check-report.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { logIn } from '../log-in.ts';
import { type Finding, failed, passed, skipped } from './check-result.ts';

/** Each credential in turn: two of one account at once may be too many. */
export async function loginChecks(config: Config): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const credential of config.credentials.values()) findings.push(await loginCheck(config, credential));
  return findings;
}

async function loginCheck(config: Config, credential: CredentialConfig): Promise<Finding> {
  const about = ['login', credential.name] as const;
  if (!logsIn(credential)) return skipped(about, KEY_NOT_TRIED);
  try {
    const { lifetimeMs, warnings } = await logIn(config, credential);
    const notes = warnings.map((warning) => ` (${warning})`).join('');
    const life = `the token lives for ${Math.round(lifetimeMs / 1000)} s`;
    const server = loginServerOf(credential, config); // With several APIs it may be the wrong one.
    return passed(about, `fresh; ${life}${server === undefined ? '' : `, from ${server}`}${notes}`);
  } catch (error) {
    if (!(error instanceof LoginError)) throw error;
    const { message, remedy } = error;
    const detail = remedy === undefined ? message : message.slice(0, -`. ${remedy}`.length);
    return failed(about, { detail, remedy, exitCode: exitCodeOf(error) ?? EXIT.failed });
  }
}
