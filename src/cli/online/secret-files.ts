import { type ConfigFault, formatFault } from '../../base/config-error.ts';
import { LoginError } from '../../base/login-error.ts';
import type { Config } from '../../config/config.ts';
import type { CredentialConfig } from '../../config/sections/credentials/credential.ts';
import type { LoginFile } from '../../config/shapes/login-file.ts';
import { readLoginFile } from '../../login/login-file.ts';
import { LOGIN_TIMEOUT_MS } from '../../login/login-request.ts';
import { EXIT } from '../exit-codes.ts';
import { type Finding, failed, passed, skipped } from './check-result.ts';

const NAME = 'secret-files';
const REMEDY = 'Each has to be there, with something in it, and readable by the user that bearerd runs as.';

/** The files of the configuration were good, or it would have been faulty; the others are read at each login. */
export async function secretFilesCheck(config: Config): Promise<Finding> {
  const readAtLogin = [...config.credentials.values()].flatMap(loginFilesOf);
  const names = [...new Set([...config.fileNames.values(), ...readAtLogin.map(({ shown }) => shown)])];
  if (names.length === 0) return skipped([NAME, 'none'], 'the configuration names no file');
  const about = [NAME, names.join(', ')] as const;
  const problems = await Promise.all(readAtLogin.map(problemWith));
  const detail = problems.flat().join('; ');
  return detail === ''
    ? passed(about, 'each can be read')
    : failed(about, { detail, remedy: REMEDY, exitCode: EXIT.unavailable });
}

/** The finding for a configuration with faults. */
export function faultySecretFiles(faults: readonly ConfigFault[]): Finding | undefined {
  const ofFiles = faults.filter(({ ofFile }) => ofFile);
  if (ofFiles.length === 0) return undefined;
  const subject = ofFiles.map(({ key }) => key).join(', ');
  const detail = ofFiles.map(formatFault).join('; ');
  return failed([NAME, subject], { detail, remedy: REMEDY, exitCode: EXIT.config });
}

async function problemWith(file: LoginFile): Promise<string[]> {
  try {
    await readLoginFile(file, 'file', AbortSignal.timeout(LOGIN_TIMEOUT_MS));
    return [];
  } catch (error) {
    if (error instanceof LoginError) return [error.message];
    throw error;
  }
}

function loginFilesOf(credential: CredentialConfig): LoginFile[] {
  if (credential.kind !== 'oauth2') return [];
  const { exchange, assertionGrant, tls } = credential;
  const proof =
    credential.clientAuthentication === 'assertion'
      ? [credential.assertion]
      : credential.clientAuthentication === 'privateKeyJwt'
        ? [credential.privateKey]
        : [];
  const granted =
    assertionGrant && ('assertion' in assertionGrant ? assertionGrant.assertion : assertionGrant.privateKey);
  // One key may sign both.
  const signing = new Set([...proof, granted ?? []].flat());
  return [...signing, exchange?.subjectToken ?? [], tls?.certFile ?? [], tls?.keyFile ?? []].flat();
}
