/** All that sharing needs, in one piece that is loaded where it is configured. */
export { accountOf } from './account.ts';
export { AccountKeys } from './keys.ts';
export { RedisEngine } from './redis-engine.ts';
export { SharedLogin } from './shared-login.ts';
