import { until } from './raw-client.ts';

/** Waits until a growing number has been the same for so many looks, 5 ms apart, or is above `most`. @returns the number */
export async function untilStill(
  number: () => number,
  looks: number,
  most = Number.POSITIVE_INFINITY,
): Promise<number> {
  let before = -1;
  let still = 0;
  await until(() => {
    const now = number();
    still = now === before ? still + 1 : 0;
    before = now;
    return still === looks || before > most;
  }, 'a number grows without an end');
  return number();
}
