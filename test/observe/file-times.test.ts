import t from 'tap';
import { FileTimes } from '../../src/observe/file-times.ts';
import { until } from '../support/raw-client.ts';

t.test('a file system that hangs is asked once at a time, and holds up nobody', async (t) => {
  const keepsProcess = setInterval(() => {}, 1_000); // The limit alone would not.
  t.teardown(() => clearInterval(keepsProcess));
  const asked: PromiseWithResolvers<number>[] = [];
  const times = new FileTimes(() => {
    asked.push(Promise.withResolvers());
    return asked.at(-1)!.promise;
  }, 10);
  t.same(await Promise.all([times.of('/a'), times.of('/a')]), [undefined, undefined]);
  t.equal(await times.of('/a'), undefined);
  t.equal(asked.length, 1);
  asked[0]!.resolve(1);
  await until(() => {
    times.of('/a');
    return asked.length === 2;
  }, 'it is not asked again');
  const time = times.of('/a');
  asked[1]!.resolve(2);
  t.equal(await time, 2);
});
