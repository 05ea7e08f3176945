import type { MetricSample } from "../../text/prometheus-text.ts";

/** A Prometheus histogram: counts observations in buckets, all of which are there from the start. */
export class PrometheusHistogram {
  readonly #bounds: readonly number[];
  /** How many observations each bucket has by itself; one larger than every bound is in none. */
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  /** `bounds`: the upper ends of the buckets, ascending, each included; the bucket `+Inf` is added. */
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
