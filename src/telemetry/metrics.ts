/**
 * Port: numbers about the work, for /metrics. A metric is declared once, with every label and every value a label can
 * have; labels are for short closed lists, while keys, names and URLs go to logs.
 *
 *     const failures = metrics.counter({
 *       name: "gateway_lock_acquisition_failures_total",
 *       help: "Locks that were not acquired.",
 *       labels: { reason: ["contention", "timeout"] },
 *     });
 *     const timeouts = failures.with({ reason: "timeout" }); // once, outside the hot path
 *     timeouts.inc();
 */
export interface Metrics {
  counter<const L extends LabelDeclarations>(spec: CounterSpec & { readonly labels: L }): Labelled<L, Counter>;
  counter(spec: CounterSpec): Counter;
  gauge<const L extends LabelDeclarations>(
    spec: GaugeSpec<Labelled<L, Gauge>> & { readonly labels: L },
  ): Labelled<L, Gauge>;
  gauge(spec: GaugeSpec<Gauge>): Gauge;
  /** A gauge for each row of a list that people keep short, such as the catalog: looked up at each reading. */
  rows(spec: RowsSpec): void;
  histogram<const L extends LabelDeclarations>(spec: HistogramSpec & { readonly labels: L }): Labelled<L, Histogram>;
  histogram(spec: HistogramSpec): Histogram;
}

/** Each label's name with all the values it can have. */
export type LabelDeclarations = Readonly<Record<string, readonly string[]>>;

/** One declared value for each label. */
export type LabelValues<L extends LabelDeclarations> = { readonly [Name in keyof L]: L[Name][number] };

/** A metric with one series for each combination of label values. */
export interface Labelled<L extends LabelDeclarations, Series> {
  /** The same series every time. Throws TypeError for a value that was not declared. */
  with(values: LabelValues<L>): Series;
}

export interface MetricSpec {
  /** `<stage>_<thing>_<unit>`, in lower case. */
  readonly name: string;
  /** One sentence for the people who read the graph. */
  readonly help: string;
}

/** Names of counters end in `_total`, and only theirs. Every series of a counter exists from the start, at zero. */
export interface CounterSpec extends MetricSpec {
  readonly name: `${string}_total`;
}

export interface GaugeSpec<G> extends MetricSpec {
  /** Called before each scrape, to set a value that is easier to look up than to track. */
  readonly collect?: (gauge: G) => void;
}

export interface RowsSpec extends MetricSpec {
  /** Name of the label that distinguishes the rows. */
  readonly label: string;
  /** No more than 500: the rest is left out. */
  readonly read: () => Iterable<readonly [label: string, value: number]>;
}

export interface HistogramSpec extends MetricSpec {
  /** Upper bounds, rising, in the unit of the name. */
  readonly buckets: readonly number[];
}

export interface Counter {
  /** Adds one, or `by`, which is not negative. */
  inc(by?: number): void;
}

export interface Gauge {
  set(value: number): void;
}

export interface Histogram {
  observe(value: number): void;
}
