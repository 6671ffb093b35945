import { boundMemory } from '../../src/node/heap.ts';

// Keeps 80 MB alive and replaces them piece by piece. Prints the size of the heap, with the limit of `boundMemory` or
// without.

if (process.argv[2] === 'bounded') boundMemory();
/** What lives is replaced twice, after it has come to be. */
const ROUNDS = 1_200;
const living: string[][] = Array.from({ length: 400 }, () => []);
let most = 0;
for (let n = 0; n < ROUNDS; n++) {
  living[n % living.length] = Array.from({ length: 5_000 }, (_, i) => `${n}-${i}`);
  most = Math.max(most, process.memoryUsage().heapUsed);
}
console.log(most);
