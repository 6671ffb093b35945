import { LoginError } from '../base/login-error.ts';
import type { SourceLogin } from '../tokens/source-login.ts';

/** Runs the commands that the secrets of a credential come from, and takes what they print into use. Never rejects. */
export type RenewSecrets = (credential: string) => Promise<void>;

/**
 * A login whose secrets come from commands. They run after a refusal, at once: a secret that has been changed at both ends
 * is used with no pause, since a login is abandoned when its credential changes. And they run before each try after that.
 */
export function withRenewedSecrets(login: SourceLogin, renew: () => Promise<void>): SourceLogin {
  let wasRefused = false;
  return async (signal, spareMs) => {
    if (wasRefused) await untilAborted(renew(), signal);
    try {
      const outcome = await login(signal, spareMs);
      wasRefused = false;
      return outcome;
    } catch (error) {
      const isFirst = !wasRefused;
      wasRefused = error instanceof LoginError && error.code === 'refused';
      if (wasRefused && isFirst) await untilAborted(renew(), signal);
      throw error;
    }
  };
}

/** An end of the process, or of the credential, waits for no command. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  signal.addEventListener('abort', end, { once: true });
  await Promise.race([work, promise]);
  signal.removeEventListener('abort', end);
}
