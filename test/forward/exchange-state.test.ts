import t from 'tap';
import { ExchangeState, FOLLOWS, type State } from '../../src/forward/exchange-state.ts';

const STATES = Object.keys(FOLLOWS) as State[];

t.test('every state can be reached, and the client can leave in every state', async (t) => {
  const reached = new Set<State>(['reading']);
  for (const state of reached) for (const next of FOLLOWS[state]) reached.add(next);
  t.same([...reached].sort(), STATES.toSorted());
  for (const state of STATES.filter((each) => each !== 'over')) t.ok(FOLLOWS[state].includes('over'), state);
  t.same(FOLLOWS.over, []);
});

t.test('no state leads back to one before the answer once an answer has begun', async (t) => {
  for (const state of ['answering', 'answered', 'tunnel'] as const) {
    for (const before of ['reading', 'authorizing', 'connecting', 'sending', 'held'] as const)
      t.notOk(FOLLOWS[state].includes(before), `${state} → ${before}`);
  }
});

t.test('a state that may not follow the present one is not entered', async (t) => {
  const state = new ExchangeState();
  t.notOk(state.enter('answering'));
  t.equal(state.present, 'reading');
  for (const next of [
    'authorizing',
    'connecting',
    'sending',
    'held',
    'connecting',
    'sending',
    'answering',
  ] as const)
    t.ok(state.enter(next), next);
  t.notOk(state.enter('connecting'));
  t.ok(state.enter('answered'));
  t.notOk(state.enter('answered'));
  t.ok(state.enter('over'));
});
