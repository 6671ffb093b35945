import t from 'tap';

// tap runs the hooks of a test's end in the order of their registration. After `t.testdir()` comes `t.teardown()`, so the
// folder would be removed while what the test has started still writes to it. If that removal fails, tap drops the
// teardowns, and the file hangs.
const registerFirst = (test: typeof t): void => test.teardown(() => {});

registerFirst(t);
t.beforeEach(registerFirst as (test: unknown) => void);
