import type { Clock } from '../base/clock.ts';
import { LoginError } from '../base/login-error.ts';
import type { Login } from './http-login.ts';
import { type ServerClock, skewText } from './server-clock.ts';

/** Servers tolerate some seconds of difference: a smaller one is not the reason of a refusal. */
const NOTICEABLE_MS = 5_000;
/** There is at most one login a second. */
const PAUSE_MS = 1_000;

/**
 * A login that signs its request and the time in it. With a wrong clock the server refuses it, and the refusal's `Date`
 * gives the server's time. The login is then sent once more with that time, and later logins use it from the start.
 */
export function signedLogin(login: Login, time: ServerClock, clock: Clock): Login {
  return async (signal) => {
    const signedWithMs = time.skewMs;
    try {
      return await login(signal);
    } catch (error) {
      if (!isRefusal(error) || Math.abs(time.skewMs - signedWithMs) < NOTICEABLE_MS)
        throw namingClock(error, time);
    }
    await clock.sleep(PAUSE_MS, signal);
    try {
      return await login(signal);
    } catch (error) {
      throw namingClock(error, time);
    }
  };
}

function isRefusal(error: unknown): error is LoginError {
  return error instanceof LoginError && error.code === 'refused';
}

function namingClock(error: unknown, { skewMs }: ServerClock): unknown {
  if (!isRefusal(error) || Math.abs(skewMs) < NOTICEABLE_MS) return error;
  const note = `Note: this machine's clock is ${skewText(skewMs)} the server's.`;
  const { code, message, status, retryAfterMs, cause, remedy } = error;
  const more = { status, retryAfterMs, cause, remedy: remedy === undefined ? note : `${remedy} ${note}` };
  return new LoginError(code, `${message}${remedy === undefined ? '. ' : ' '}${note}`, more);
}
