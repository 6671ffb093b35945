import type { Clock } from '../base/clock.ts';
import { startFailure, stillRunning } from '../base/failures/command-words.ts';
import { LoginError } from '../base/login-error.ts';
import { type CommandEnd, runCommand } from '../base/run-command.ts';
import type { ExecCredentialConfig } from '../config/sections/credentials/exec.ts';
import { shownProgram } from '../config/values/commands.ts';
import type { Login } from './http-login.ts';
import { firstFilled, type IssuedToken, issueToken, unusable } from './issued-token.ts';
import { parseJsonObject } from './json-object.ts';
import { toldOf } from './login-failure.ts';

const MAX_OUTPUT_BYTES = 64 * 1024;
const REMEDY = 'Run it by hand, as the user that bearerd runs as, to see what it says.';

type Environment = Readonly<Record<string, string | undefined>>;

/** A login that runs a command and takes the token that it prints. `environment` is all that the command gets. */
export function createExecLogin(config: ExecCredentialConfig, environment: Environment, clock: Clock): Login {
  const subject = `the command ${shownProgram(config.command[0] ?? '')}`;
  return async (signal) => {
    try {
      return await obtain(config, environment, clock, signal);
    } catch (error) {
      throw error instanceof LoginError ? toldOf(subject, error, { remedy: REMEDY }) : error;
    }
  };
}

async function obtain(
  config: ExecCredentialConfig,
  environment: Environment,
  clock: Clock,
  signal: AbortSignal,
): Promise<IssuedToken> {
  const started = { wallMs: clock.wallMs(), monoMs: clock.monoMs() };
  const { command, timeoutMs } = config;
  const options = { env: environment, timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES, signal };
  const end = await runCommand(command, options);
  if (end.kind !== 'ended' || end.exitCode !== 0) throw commandFailure(end, config);
  const receivedWallMs = clock.wallMs();
  // The further of the two: the machine may have slept in between, and the monotonic clock with it.
  const elapsedMs = Math.max(receivedWallMs - started.wallMs, clock.monoMs() - started.monoMs);
  return readOutput(end.stdout, receivedWallMs, elapsedMs);
}

/**
 * The token on stdout: alone on a line, or in a JSON object that may say when it expires. Pure.
 *
 * @param elapsedMs how long the command took; `expires_in` counts from its start.
 */
export function readOutput(stdout: Uint8Array, receivedWallMs: number, elapsedMs: number): IssuedToken {
  const text = Buffer.from(stdout).toString('utf8').trim();
  if (text === '') throw unusable('it printed nothing');
  const isJson = text.startsWith('{');
  // Tools that fail with exit code 0 print a sentence; a token has no blanks (RFC 6750 §2.1).
  if (!isJson && /\s/.test(text)) throw unusable('it printed more than one word, and no JSON object');
  const fields = isJson ? membersOf(parseJsonObject(stdout)) : { token: text };
  if (fields === undefined) throw unusable('it printed something that begins like JSON and is none');
  const token = firstFilled([fields.token, fields.accessToken, fields.access_token]);
  if (token === undefined) throw unusable('the JSON that it printed holds no token');
  return issueToken(fields, token, { receivedWallMs, elapsedMs, serverDateMs: undefined });
}

/** A credential plugin of kubectl prints an `ExecCredential` (client.authentication.k8s.io/v1), whose `status` has them. */
function membersOf(printed: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  if (printed?.kind !== 'ExecCredential') return printed;
  const status = printed.status as { token?: unknown; expirationTimestamp?: unknown } | null | undefined;
  return { token: status?.token, expiresAt: status?.expirationTimestamp };
}

/** The message holds nothing of the output: a tool that fails may print its secrets. */
function commandFailure(end: CommandEnd, { timeoutMs }: ExecCredentialConfig): LoginError {
  switch (end.kind) {
    case 'not-started':
      return new LoginError('unreachable', startFailure(end.code));
    case 'timeout':
      return new LoginError('unreachable', stillRunning(timeoutMs));
    case 'aborted':
      return new LoginError('unreachable', 'was killed: its token is no longer wanted');
    case 'too-much-output':
      return unusable('it printed more than 64 KiB');
    case 'ended': {
      const how = end.signal === null ? `exit code ${end.exitCode}` : `by ${end.signal}`;
      const said = end.stderrBytes === 0 ? '' : `; ${end.stderrBytes} bytes on stderr are not shown`;
      return new LoginError('server-error', `failed (${how}${said})`);
    }
  }
}
