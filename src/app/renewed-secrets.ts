import { LoginError } from '../base/login-error.ts';
import type { SourceLogin } from '../tokens/source-login.ts';

/** Runs the commands of a credential's secrets, and takes their output into use. Never rejects. */
export type RenewSecrets = (credential: string) => Promise<void>;

/**
 * A login whose secrets come from commands. They run at once after the first refusal: a changed secret abandons
 * this login, so that no pause follows. And they run before each try after that.
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

/** The end of the process or of the credential doesn't wait for a command. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const end = () => resolve();
  signal.addEventListener('abort', end, { once: true });
  await Promise.race([work, promise]);
  signal.removeEventListener('abort', end);
}
