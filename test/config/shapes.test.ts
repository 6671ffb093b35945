import t from 'tap';
import type { Reading } from '../../src/config/reading/reading.ts';
import { listOf, mapOf } from '../../src/config/shapes/collections.ts';
import type { Fields } from '../../src/config/shapes/field.ts';
import { object } from '../../src/config/shapes/object.ts';
import { At, standIn } from '../../src/config/shapes/shape.ts';
import { variants } from '../../src/config/shapes/variants.ts';
import * as kinds from '../../src/config/values/vocabulary.ts';

// The shapes of which sections of the file are made. The tests of the sections cover their rules; here is what each shape
// promises.

/** A place, and its faults as `KEY: problem`. */
function place() {
  const faults: string[] = [];
  const report = (key: string, problem: string) => faults.push(`${key}: ${problem}`);
  const reading = { report } as unknown as Reading;
  return { at: new At('top', reading), reading, faults };
}

const FIELDS = {
  way: { kind: kinds.choice(['a', 'b']), default: 'a', description: 'x' },
  wait: { kind: kinds.duration(), description: 'x', onlyWith: { way: ['b'] }, neededWith: { way: ['b'] } },
  path: { kind: kinds.path, description: 'x', required: true },
} as const satisfies Fields;
const SHAPE = object(FIELDS);

t.test('an object gives typed values, and defaults for missing ones', async (t) => {
  const { at, faults } = place();
  t.same(SHAPE.read({ path: '/x' }, at, {}), { way: 'a', path: '/x' });
  t.same(SHAPE.read({ path: '/x', way: 'b', wait: '5s' }, at, {}), { way: 'b', wait: 5000, path: '/x' });
  t.same(faults, []);
});

t.test('all faults of an object are reported at once', async (t) => {
  const { at, faults } = place();
  t.same(SHAPE.read({ way: 'xyz', wait: '5', pth: '/' }, at, {}), {
    way: 'a',
  });
  t.same(faults, [
    'top.pth: unknown key; did you mean top.path?',
    'top.way: must be one of a, b',
    'top.wait: has no unit; write 5s',
    'top.path: is missing',
  ]);
});

t.test(
  'a field that belongs to one value of a second field is required with it, and a fault with others',
  async (t) => {
    const { at, faults } = place();
    SHAPE.read({ path: '/', wait: '5s' }, at, {});
    SHAPE.read({ path: '/', way: 'b' }, at, {});
    t.same(faults, [
      'top.wait: is for way: b; it means nothing with way: a',
      'top.wait: is missing; way: b needs it',
    ]);
  },
);

t.test('a shown object can be read again, and fields without meaning are not shown', async (t) => {
  const { at } = place();
  const declared = SHAPE.read({ path: '/x/', way: 'b', wait: '60s' }, at, {})!;
  t.same(SHAPE.show(declared), { way: 'b', wait: '1m', path: '/x' });
  t.same(SHAPE.show({ ...declared, way: 'a' }), { way: 'a', path: '/x' });
});

t.test('maps and lists keep the place of each value for later faults', async (t) => {
  const { at, faults } = place();
  const names = mapOf({ of: SHAPE, nameProblem: (name) => (name === 'no' ? 'is no name' : undefined) });
  for (const [, { at: its, value }] of names.read({ yes: { path: '/' }, no: { path: '/' } }, at, {}) ?? []) {
    its.below('path').report(`is ${value?.path}`);
  }
  const list = listOf(SHAPE, 'must be a list', { least: 1 });
  for (const item of list.read([{ path: '/' }, 7], at, {}) ?? []) item.at.report('stands here');
  list.read([], at, {});
  t.same(faults, [
    'top.no: is no name',
    'top.yes.path: is /',
    'top.no.path: is /',
    'top[1]: must be a map of keys and values',
    'top[0]: stands here',
    'top: must be a list',
  ]);
});

t.test(
  'the type selects one of several objects, and the fault for a key of another one names its type',
  async (t) => {
    const { at, faults } = place();
    const other = object({ size: { kind: kinds.count(9), description: 'x' } });
    const shape = variants({ one: SHAPE, two: other }, {});
    t.same(shape.read({ type: 'two', size: 3 }, at, {}), { type: 'two', size: 3 });
    shape.read({ type: 'two', path: '/' }, at, {});
    shape.read({ size: 3 }, at, {});
    t.same(faults, [
      'top.path: unknown key; it belongs to type: one',
      'top.type: is missing; it is one of one, two',
    ]);
  },
);

t.test('faults of a value from a variable name the variable', async (t) => {
  const { reading, faults } = place();
  SHAPE.read({ path: 'x' }, standIn('VARIABLE', 'entry 2: ', reading), {});
  t.same(faults, ['VARIABLE: entry 2: must begin with /']);
});
