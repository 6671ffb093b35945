/** A measured value and its time. */
export interface Sample {
  readonly atMs: number;
  readonly value: number;
}

/** The growth of a value in an hour, with its bounds at 95 % confidence. */
export interface Slope {
  readonly perHour: number;
  readonly low: number;
  readonly high: number;
}

const HOUR_MS = 3_600_000;

/** The least value of each window: the part that lasts, without that of requests under way. */
export function floorOf(samples: readonly Sample[], windowMs: number): Sample[] {
  const least = new Map<number, Sample>();
  for (const sample of samples) {
    const window = Math.floor(sample.atMs / windowMs);
    const known = least.get(window);
    if (known === undefined || sample.value < known.value) least.set(window, sample);
  }
  return [...least.values()];
}

/**
 * The Theil–Sen estimator: the median of the slopes of all pairs, which single peaks do not move. The bounds are those
 * of Kendall's test. Fewer than three samples give no bounds.
 */
export function slopeOf(samples: readonly Sample[]): Slope {
  const n = samples.length;
  if (n < 3) return { perHour: 0, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  const slopes = samples
    .flatMap((from, i) => samples.slice(i + 1).map((to) => (to.value - from.value) / (to.atMs - from.atMs)))
    .sort((a, b) => a - b);
  const spread = 1.96 * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const at = (place: number) => {
    const slope = slopes[Math.round(place)];
    return slope === undefined ? undefined : slope * HOUR_MS;
  };
  return {
    perHour: (at(Math.floor((slopes.length - 1) / 2))! + at(Math.ceil((slopes.length - 1) / 2))!) / 2,
    low: at((slopes.length - spread) / 2) ?? Number.NEGATIVE_INFINITY,
    high: at((slopes.length + spread) / 2) ?? Number.POSITIVE_INFINITY,
  };
}
