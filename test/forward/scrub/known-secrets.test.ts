import t from 'tap';
import { deadlineIn } from '../../../src/base/deadline.ts';
import { Secret } from '../../../src/base/secret.ts';
import { KnownSecrets } from '../../../src/forward/scrub/known-secrets.ts';
import { scrubText } from '../../../src/forward/scrub/scrubber.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { leastBytes, usedBytes } from '../../support/memory.ts';

const LIFE_MS = 60_000;
const TOKENS = 2_000;
const TOKEN_BYTES = 8 * 1024;

const token = (n: number) => new Secret(`${n}-`.padEnd(TOKEN_BYTES, 'token'));

t.test('expired tokens are forgotten even if no answer is ever searched', async (t) => {
  const clock = new FakeClock();
  const known = new KnownSecrets(clock);
  const most = (await usedBytes()) + (TOKENS * TOKEN_BYTES) / 4;
  for (let n = 0; n < TOKENS; n++) {
    known.add(token(n), deadlineIn(LIFE_MS, clock));
    await clock.advance(LIFE_MS / 2);
  }
  t.ok((await leastBytes(most)) < most);
  const finds = (n: number) => scrubText(known.searcher, token(n).expose()) !== token(n).expose();
  t.same([finds(TOKENS - 1), finds(TOKENS - 2)], [true, false]);
});

t.test(
  'each token is searched for until its end, however many there are and in whatever order they end',
  async (t) => {
    const clock = new FakeClock();
    const known = new KnownSecrets(clock);
    const tokens = Array.from({ length: 100 }, (_, n) => new Secret(`a-token-of-many-${n}-with-its-end`));
    for (const [n, each] of tokens.entries())
      known.add(each, deadlineIn((n % 2 === 0 ? 2 : 1) * LIFE_MS, clock));
    const found = () =>
      tokens.filter((each) => scrubText(known.searcher, each.expose()) !== each.expose()).length;
    t.equal(found(), 100);
    await clock.advance(LIFE_MS);
    known.add(new Secret('a-later-token-with-its-end'), deadlineIn(LIFE_MS, clock));
    t.equal(found(), 50);
  },
);
