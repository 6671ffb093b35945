import type { Clock } from '../clock.ts';
import type { ExecCredentialConfig } from '../config/config.ts';
import { LoginError } from '../errors.ts';
import { firstFilled, type IssuedToken, issueToken, unusable } from './issued-token.ts';
import { parseJsonObject } from './json-object.ts';
import { type CommandEnd, runCommand } from './run-command.ts';
import type { Login } from './session-endpoint.ts';

const MAX_OUTPUT_BYTES = 64 * 1024;

/** A login that runs a command and takes the token that it prints. `environment` is all that the command gets. */
export function createExecLogin(
  config: ExecCredentialConfig,
  environment: Readonly<Record<string, string | undefined>>,
  clock: Clock,
): Login {
  return async (signal) => {
    const started = { wallMs: clock.wallMs(), monoMs: clock.monoMs() };
    const { command, timeoutMs } = config;
    const options = { env: environment, timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES, signal };
    const end = await runCommand(command, options);
    if (end.kind !== 'ended' || end.exitCode !== 0) throw failureOf(end, config);
    const receivedWallMs = clock.wallMs();
    // The further of the two: the machine may have slept in between, and the monotonic clock with it.
    const elapsedMs = Math.max(receivedWallMs - started.wallMs, clock.monoMs() - started.monoMs);
    return readOutput(end.stdout, receivedWallMs, elapsedMs);
  };
}

/**
 * The token on stdout: alone on a line, or in a JSON object that may say when it expires. Pure.
 *
 * @param elapsedMs how long the command took; `expires_in` counts from its start.
 */
export function readOutput(stdout: Uint8Array, receivedWallMs: number, elapsedMs: number): IssuedToken {
  const text = Buffer.from(stdout).toString('utf8').trim();
  if (text === '') throw unusable('the command printed nothing');
  const isJson = text.startsWith('{');
  // Tools that fail with exit code 0 print a sentence; a token has no blanks (RFC 6750 §2.1).
  if (!isJson && /\s/.test(text))
    throw unusable('the command printed more than one word, and no JSON object');
  const fields = isJson ? parseJsonObject(stdout) : { token: text };
  if (fields === undefined) throw unusable('the command printed something that begins like JSON and is none');
  const token = firstFilled([fields.token, fields.accessToken, fields.access_token]);
  if (token === undefined) throw unusable('the JSON that the command printed holds no token');
  return issueToken(fields, token, { receivedWallMs, elapsedMs, serverDateMs: undefined });
}

/** Nothing of what it printed is in the message: a tool that fails may well print what it was given. */
function failureOf(end: CommandEnd, { command, timeoutMs }: ExecCredentialConfig): LoginError {
  const name = `the command ${shown(command[0] ?? '')}`;
  switch (end.kind) {
    case 'not-started': {
      const reason =
        { ENOENT: "can't be found", EACCES: 'may not be run' }[end.code] ?? `can't be started (${end.code})`;
      return new LoginError('unreachable', `${name} ${reason}`);
    }
    case 'timeout':
      return new LoginError(
        'unreachable',
        `${name} was killed: it had not ended after ${timeoutMs / 1000} s`,
      );
    case 'aborted':
      return new LoginError('unreachable', `${name} was killed: its token is no longer wanted`);
    case 'too-much-output':
      return unusable(`${name} printed more than 64 KiB`);
    case 'ended': {
      const how = end.signal === null ? `exit code ${end.exitCode}` : `by ${end.signal}`;
      const said = end.stderrBytes === 0 ? '' : `; ${end.stderrBytes} bytes on stderr are not shown`;
      return new LoginError('server-error', `${name} failed (${how}${said})`);
    }
  }
}

/** A whole command line in the program's place may hold a secret. */
function shown(program: string): string {
  return /^[\w./+@-]+$/.test(program) ? program : '(whose first entry holds more than a name)';
}
