import type { Test } from 'tap';

/** The part of a test that a server needs to end with it; a program without tap brings its own. */
export type Lifetime = Pick<Test, 'teardown'>;
