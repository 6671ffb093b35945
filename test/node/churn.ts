import { boundMemory } from '../../src/node/heap.ts';

// Keeps 80 MB alive and replaces them piece by piece. Prints the size of the heap, with the limit of `boundMemory` or
// without.

if (process.argv[2] === 'bounded') boundMemory();
const living: string[][] = Array.from({ length: 400 }, () => []);
let most = 0;
for (let n = 0; n < 2_400; n++) {
  living[n % living.length] = Array.from({ length: 5_000 }, (_, i) => `${n}-${i}`);
  most = Math.max(most, process.memoryUsage().heapUsed);
}
console.log(most);
