import t from 'tap';
import { deadlineIn, untilMs } from '../../../src/base/deadline.ts';
import { LoginError } from '../../../src/base/login-error.ts';
import { Secret } from '../../../src/base/secret.ts';
import type { Findings } from '../../../src/integrations/fleet/account-engine.ts';
import { type Hold, heldBack, holdAfter } from '../../../src/integrations/fleet/hold.ts';
import { Knowledge } from '../../../src/integrations/fleet/knowledge.ts';
import type { SharedToken } from '../../../src/integrations/fleet/shared-token.ts';
import { FakeClock } from '../../support/fake-clock.ts';

// How one instance evaluates what it reads from the engine.

const MINUTE = 60_000;
const seen = { token: undefined, hold: undefined, retired: undefined, versions: { token: '', hold: '' } };

function bench() {
  const clock = new FakeClock();
  const known = new Knowledge(clock, () => 0.5);
  const token = (generation: number, lifetimeMs = 15 * MINUTE, name = `tok-${generation}`): SharedToken => ({
    token: new Secret(name),
    generation,
    mark: `mark of ${name}`,
    expires: deadlineIn(lifetimeMs, clock),
    lifetimeMs: 15 * MINUTE,
  });
  const look = (findings: Partial<Findings>) =>
    known.learn({ token: undefined, hold: undefined, retired: undefined, seen, ...findings });
  return { clock, known, token, look };
}

t.test('a later token is taken, once; an earlier or the same one is not', async (t) => {
  const { known, token, look } = bench();
  t.same(look({ token: token(3) }), { refused: false, fresher: true });
  t.match(known.take(), { lifetimeMs: 15 * MINUTE, ageMs: 0 });
  t.equal(known.take(), undefined);
  for (const other of [token(3), token(2), token(2, 60 * MINUTE)])
    t.equal(look({ token: other }).fresher, false);
  t.equal(look({ token: token(4) }).fresher, true);
});

t.test('of two tokens of one generation, the one that ends later is better', async (t) => {
  const { known, token, look } = bench();
  look({ token: token(3) });
  known.take();
  t.equal(look({ token: token(3, 10 * MINUTE, 'other') }).fresher, false);
  t.equal(look({ token: token(3, 20 * MINUTE, 'other') }).fresher, true);
});

t.test('a token that has ended, or is about to, is not taken', async (t) => {
  const { token, look } = bench();
  for (const leftMs of [-MINUTE, 0, 900]) t.equal(look({ token: token(9, leftMs) }).fresher, false);
});

t.test('a refused token is not taken again, whichever instance it was refused to', async (t) => {
  const { known, token, look } = bench();
  look({ token: token(3) });
  known.take();
  t.equal(known.refused()?.generation, 3);
  t.equal(look({ token: token(3) }).fresher, false);
  const other = bench();
  other.look({ token: other.token(3) });
  other.known.take();
  t.same(other.look({ retired: 'mark of tok-3' }), { refused: true, fresher: false });
  t.equal(other.look({ token: other.token(3) }).fresher, false);
  other.look({ token: other.token(4) });
  t.equal(other.look({ retired: 'mark of tok-4' }).fresher, false);
  t.equal(other.known.take(), undefined, 'the token was refused before it was taken');
});

t.test('a token that the others go on using is taken again once, but not twice', async (t) => {
  const { known, token, look } = bench();
  for (const again of [true, false]) {
    look({ token: token(3) });
    known.take();
    known.allowAgain(known.refused() ?? token(3));
    t.equal(look({ token: token(3) }).fresher, again);
  }
});

t.test('a generation is never used twice, even if the engine loses data', async (t) => {
  const { known, token, look } = bench();
  look({ token: token(41) });
  look({});
  const own = known.add({ token: new Secret('own'), lifetimeMs: MINUTE, warnings: [] }, 'mark');
  t.equal(own.generation, 42);
  t.equal(known.exceeds({ token: undefined, hold: undefined, retired: undefined, seen }), true);
  t.equal(known.exceeds({ token: token(42), hold: undefined, retired: undefined, seen }), false);
  t.equal(known.exceeds({ token: undefined, hold: undefined, retired: 'mark', seen }), false);
});

t.test('a failed login holds all instances back, with growing pauses', async (t) => {
  const { clock } = bench();
  const after = (error: LoginError, before?: Hold) => holdAfter(error, before, 0.5, clock);
  const leftMs = ({ ends }: Hold) => untilMs(ends, clock);
  for (const code of ['unreachable', 'server-error', 'unusable', 'redirected'] as const)
    t.equal(leftMs(after(new LoginError(code, 'x'))), 1_000, code);
  t.ok(leftMs(after(new LoginError('server-error', 'x', { retryAfterMs: 5_000 }))) >= 5_000);
  const refused = new LoginError('refused', 'no');
  const first = after(refused);
  const second = after(refused, first);
  t.same([first.consecutive, second.consecutive], [1, 2]);
  t.ok(second.ends.monoMs > first.ends.monoMs);
  t.equal(after(new LoginError('rate-limited', 'x'), second).consecutive, 1);
  const error = heldBack(first, clock)!;
  t.match(error, { code: 'refused', message: /^all instances are held back: no$/, heldBack: true });
  t.ok(error.retryAfterMs! >= 29_000);
  await clock.advance(5 * MINUTE);
  t.equal(heldBack(first, clock), undefined);
});

t.test('a failure that may concern one instance only holds the others back for 5 s at most', async (t) => {
  const { clock } = bench();
  const pauses = (code: 'unreachable' | 'server-error') => {
    let hold: Hold | undefined;
    return Array.from({ length: 8 }, () => {
      hold = holdAfter(new LoginError(code, 'x'), hold, 0.9, clock);
      return untilMs(hold.ends, clock);
    });
  };
  t.equal(Math.max(...pauses('unreachable')), 5_000);
  t.ok(Math.max(...pauses('server-error')) > 50_000);
});

t.test(
  'an engine that has lost a hold, or returns an older one, does not shorten the present hold',
  async (t) => {
    const { clock, known, look } = bench();
    const hold = holdAfter(
      new LoginError('rate-limited', 'x', { retryAfterMs: MINUTE }),
      undefined,
      0.5,
      clock,
    );
    look({ hold });
    look({});
    look({ hold: { ...hold, ends: deadlineIn(1_000, clock) } });
    t.equal(known.hold, hold);
  },
);
