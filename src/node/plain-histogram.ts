import { Histogram, type Registry } from 'prom-client';

/** The values of one series. */
interface Counted<L extends string> {
  readonly labels: Readonly<Record<L, string>>;
  readonly count: number;
  readonly sum: number;
  /** One for each bucket, not cumulative. */
  readonly buckets: readonly number[];
}

interface HistogramOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: L[];
  readonly buckets: number[];
  readonly registry: Registry;
  readonly series: () => Iterable<Counted<L>>;
}

/**
 * A histogram whose values are kept elsewhere. prom-client lets a counter set its value when it is collected
 * (`collect`), but not a histogram. So this class overrides the method that the registry calls, which prom-client's
 * types do not declare.
 */
export class PlainHistogram<L extends string> extends Histogram<L> {
  readonly #options: HistogramOptions<L>;

  constructor(options: HistogramOptions<L>) {
    const { name, help, labelNames, buckets, registry } = options;
    super({ name, help, labelNames, buckets, registers: [registry] });
    this.#options = options;
  }

  async getForPromString() {
    const { name, help, buckets: bounds, series } = this.#options;
    const values = [...series()].flatMap(({ labels, count, sum, buckets }) => {
      let below = 0;
      const cumulative = bounds.map((le, i) => {
        below += buckets[i]!;
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: below };
      });
      return [
        ...cumulative,
        { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value: count },
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
    return { name, help, type: 'histogram', values, aggregator: 'sum' };
  }
}
