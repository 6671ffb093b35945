import t from 'tap';
import { type Member, Members } from '../../src/base/members.ts';
import { fc } from '../support/properties.ts';

const member = (): Member => ({ memberAt: -1 });

t.test('after any additions and removals, Members holds what a Set would hold', async (t) => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(9)));
  fc.assert(
    fc.property(steps, (changes) => {
      const all = Array.from({ length: 10 }, member);
      const members = new Members<Member>();
      const model = new Set<Member>();
      for (const [comes, index] of changes) {
        const one = all[index]!;
        if (comes) {
          if (model.has(one)) continue;
          members.add(one);
          model.add(one);
        } else if (members.delete(one) !== model.delete(one)) {
          return false;
        }
      }
      return members.size === model.size && [...members].every((one) => model.has(one));
    }),
  );
  t.pass();
});

t.test('while members leave, an iteration visits all that stay', async (t) => {
  const members = new Members<Member>();
  const all = Array.from({ length: 20 }, member);
  for (const one of all) members.add(one);
  const seen = new Set<Member>();
  for (const one of members) {
    seen.add(one);
    if (seen.size % 3 === 0) members.delete(one);
    if (seen.size === 5) members.delete(all[0]!);
  }
  t.ok([...members].every((one) => seen.has(one)));
  t.notOk(seen.has(all[0]!), 'a member that has left is not visited');
});
