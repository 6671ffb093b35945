import { Histogram, type Registry } from 'prom-client';

/** What one series has counted. */
export interface Counted<L extends string> {
  readonly labels: Readonly<Record<L, string>>;
  readonly count: number;
  readonly sum: number;
  /** By bucket, not cumulative. */
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
 * A histogram whose numbers are kept elsewhere. For a counter prom-client has `collect`; a histogram can't be set, so
 * what its registry asks for is answered here. Its types don't name that.
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
