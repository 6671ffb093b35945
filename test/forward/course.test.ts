import t from 'tap';
import { type Course, FOLLOWS, Progress } from '../../src/forward/course.ts';

const STATES = Object.keys(FOLLOWS) as Course[];

t.test('each state but the last leads on, and each can be reached and left by the client', async (t) => {
  const reached = new Set<Course>(['reading']);
  for (const state of reached) for (const next of FOLLOWS[state]) reached.add(next);
  t.same([...reached].sort(), STATES.toSorted());
  for (const state of STATES.filter((each) => each !== 'over')) t.ok(FOLLOWS[state].includes('over'), state);
  t.same(FOLLOWS.over, []);
});

t.test('a client gets one answer: nothing leads back from it', async (t) => {
  for (const state of ['answering', 'answered', 'tunnel'] as const) {
    for (const before of ['reading', 'authorizing', 'connecting', 'sending', 'held'] as const)
      t.notOk(FOLLOWS[state].includes(before), `${state} → ${before}`);
  }
});

t.test('an event that leads nowhere from the present state changes nothing', async (t) => {
  const progress = new Progress();
  t.notOk(progress.enter('answering'));
  t.equal(progress.course, 'reading');
  for (const next of [
    'authorizing',
    'connecting',
    'sending',
    'held',
    'connecting',
    'sending',
    'answering',
  ] as const)
    t.ok(progress.enter(next), next);
  t.notOk(progress.enter('connecting'));
  t.ok(progress.enter('answered'));
  t.notOk(progress.enter('answered'));
  t.ok(progress.enter('over'));
});
