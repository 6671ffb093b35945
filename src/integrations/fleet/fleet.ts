/** Everything for sharing tokens, in one module that is loaded only if sharing is configured. */
export { accountOf } from './account.ts';
export { AccountKeys } from './keys.ts';
export { RedisEngine } from './redis-engine.ts';
export { SharedLogin } from './shared-login.ts';
