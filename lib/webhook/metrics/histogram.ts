import type { MetricSample } from "../../text/prometheus-text.ts";

/** A Prometheus histogram: counts observations in buckets, which all exist from the start. */
export class PrometheusHistogram {
  /** Each counts what is not above its bound, that of the buckets below included; the last one counts all. */
  readonly #buckets: { bound: number; count: number }[];
  #sum = 0;

  /** `bounds`: the upper ends of the buckets, ascending, each included; the bucket `+Inf` is added. */
  constructor(bounds: readonly number[]) {
    this.#buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound) => ({ bound, count: 0 }));
  }

  observe(value: number): void {
    this.#sum += value;
    for (const bucket of this.#buckets) if (value <= bucket.bound) bucket.count += 1;
  }

  samples(labels: Readonly<Record<string, string>> = {}): MetricSample[] {
    const buckets = this.#buckets.map(({ bound, count }) => {
      const le = bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound);
      return { suffix: "_bucket" as const, labels: { ...labels, le }, value: count };
    });
    return [
      ...buckets,
      { suffix: "_sum", labels, value: this.#sum },
      { suffix: "_count", labels, value: this.#buckets.at(-1)!.count },
    ];
  }
}
