import t from 'tap';
import { describe } from '../../src/observe/event-line.ts';

const LOST = { credential: 'token', state: 'degraded', fingerprint: 'f' } as const;

t.test('a token that is lost is told of with the time of the next login', async (t) => {
  const line = (type: 'token-expired' | 'token-rejected', nextTryInMs: number) =>
    describe({ type, ...LOST, nextTryInMs });
  t.match(line('token-rejected', 0), [
    'warn',
    { nextTryInSeconds: 0 },
    'the upstream rejected the access token (401): it is renewed',
  ]);
  t.match(line('token-rejected', 41_200), [
    'warn',
    { nextTryInSeconds: 42 },
    'the upstream rejected the access token (401): the next login begins in 42 s',
  ]);
  t.match(line('token-expired', 0)[2], /newer one$/);
  t.match(line('token-expired', 5_000)[2], /newer one: the next login begins in 5 s$/);
});
