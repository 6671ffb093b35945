import { boundMemory } from '../../src/node/heap.ts';

// Keeps 80 MB alive, replaced piece by piece, and says how large the heap became: with the bound, or without.

if (process.argv[2] === 'bounded') boundMemory();
const living: string[][] = Array.from({ length: 400 }, () => []);
let most = 0;
for (let n = 0; n < 2_400; n++) {
  living[n % living.length] = Array.from({ length: 5_000 }, (_, i) => `${n}-${i}`);
  most = Math.max(most, process.memoryUsage().heapUsed);
}
console.log(most);
