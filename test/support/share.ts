/** `npm test` plays a tenth; CI, `npm run test:all` and a file that is run by itself play all. */
const SHARE = Number(process.env.TESTED_SHARE ?? 1);

export const IS_WHOLE = SHARE === 1;

/** How many of the cases that chance makes, or of a matrix, are played. */
export function share(whole: number): number {
  return Math.ceil(whole * SHARE);
}
