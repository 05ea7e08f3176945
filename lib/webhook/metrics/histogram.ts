import type { MetricSample } from "../../text/prometheus-text.ts";

/** Counts observations in buckets, as Prometheus' histograms do; every bucket is there from the start. */
export class PrometheusHistogram {
  readonly #bounds: readonly number[];
  /** Of each bucket alone; what is larger than every bound is in none. */
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  /** `bounds` are the buckets' upper ends, ascending, each included; `+Inf` comes by itself. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.#count += 1;
    this.#sum += value;
    const at = this.#bounds.findIndex((bound) => value <= bound);
    if (at !== -1) this.#counts[at] = (this.#counts[at] ?? 0) + 1;
  }

  samples(labels: Readonly<Record<string, string>> = {}): MetricSample[] {
    let upTo = 0;
    const buckets = this.#bounds.map((bound, at) => {
      upTo += this.#counts[at] ?? 0;
      return { suffix: "_bucket" as const, labels: { ...labels, le: String(bound) }, value: upTo };
    });
    return [
      ...buckets,
      { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: this.#count },
      { suffix: "_sum", labels, value: this.#sum },
      { suffix: "_count", labels, value: this.#count },
    ];
  }
}
