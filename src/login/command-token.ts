import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { startFailure, stillRunning } from '../base/failures/command-words.ts';
import { LoginError } from '../base/login-error.ts';
import { type CommandEnd, runCommand } from '../base/run-command.ts';
import type { ExecCredentialConfig } from '../config/sections/credentials/exec.ts';
import { shownProgram } from '../config/values/commands.ts';
import { withSubject } from './connection-failure.ts';
import type { AnswerTiming } from './expiry.ts';
import type { Login } from './http-login.ts';
import { firstFilled, type IssuedToken, issueToken, unusable } from './issued-token.ts';
import { parseJsonObject } from './json-object.ts';
import { startStopwatch } from './stopwatch.ts';

const MAX_OUTPUT_BYTES = 64 * 1024;
const REMEDY = 'Run it by hand, as the user that bearerd runs as, to see what it says.';

/** A login that runs a command and reads the token that it prints. `environment` is the whole environment of the command. */
export function createExecLogin(config: ExecCredentialConfig, environment: Environment, clock: Clock): Login {
  const subject = `the command ${shownProgram(config.command[0] ?? '')}`;
  return async (signal) => {
    try {
      return await obtain(config, environment, clock, signal);
    } catch (error) {
      throw error instanceof LoginError ? withSubject(subject, error, { remedy: REMEDY }) : error;
    }
  };
}

async function obtain(
  config: ExecCredentialConfig,
  environment: Environment,
  clock: Clock,
  signal: AbortSignal,
): Promise<IssuedToken> {
  const stop = startStopwatch(clock);
  const { command, timeoutMs } = config;
  const options = { env: environment, timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES, signal };
  const end = await runCommand(command, options);
  if (end.kind !== 'ended' || end.exitCode !== 0) throw commandFailure(end, config);
  return readOutput(end.stdout, stop());
}

/**
 * The token on stdout: alone on a line, or in a JSON object that may have its expiry. Pure.
 *
 * @param timing of the command: `expires_in` counts from its start
 */
function readOutput(stdout: Uint8Array, timing: Omit<AnswerTiming, 'serverDateMs'>): IssuedToken {
  const text = Buffer.from(stdout).toString('utf8').trim();
  if (text === '') throw unusable('it printed nothing');
  const isJson = text.startsWith('{');
  // Tools that fail with exit code 0 print a sentence; a token has no blanks (RFC 6750 §2.1).
  if (!isJson && /\s/.test(text)) throw unusable('it printed more than one word, and no JSON object');
  const fields = isJson ? membersOf(parseJsonObject(stdout)) : { token: text };
  if (fields === undefined) throw unusable('it printed something that begins like JSON and is none');
  const token = firstFilled([fields.token, fields.accessToken, fields.access_token]);
  if (token === undefined) throw unusable('the JSON that it printed holds no token');
  return issueToken(fields, token, { ...timing, serverDateMs: undefined });
}

/** A credential plugin of kubectl prints an `ExecCredential` (client.authentication.k8s.io/v1); its `status` has the token. */
function membersOf(printed: Record<string, unknown> | undefined): Record<string, unknown> | undefined {
  if (printed?.kind !== 'ExecCredential') return printed;
  const status = printed.status as { token?: unknown; expirationTimestamp?: unknown } | null | undefined;
  return { token: status?.token, expiresAt: status?.expirationTimestamp };
}

/** The message shows no output: a failing tool may print its secrets. */
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
