import fc from 'fast-check';
import { IS_WHOLE } from './share.ts';

/**
 * `npm test` plays the same cases each time: the first run of someone new must not be the one that draws what nobody has
 * drawn before. Where the whole is played each run draws others, and a failure names its seed.
 */
if (!IS_WHOLE) fc.configureGlobal({ seed: 1 });

export { fc };
