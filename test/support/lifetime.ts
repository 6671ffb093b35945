import type { Test } from 'tap';

/** What of a test a server needs to end with it; whoever runs without tap brings one of its own. */
export type Lifetime = Pick<Test, 'teardown'>;
