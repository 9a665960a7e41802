/**
 * Port: numbers about the work, for /metrics. A metric is declared once, with every label and every value a label can
 * have; labels are for short closed lists, while keys, names and URLs go to logs. Labels come last and are optional.
 *
 *     const failures = metrics.counter("gateway_lock_acquisition_failures_total", "Locks that were not acquired.", {
 *       reason: ["contention", "timeout"],
 *     });
 *     const timeouts = failures.with({ reason: "timeout" }); // once, outside the hot path
 *     timeouts.inc();
 *
 * A name is `<stage>_<thing>_<unit>` in lower case; the help is one sentence for the readers of the graph.
 */
export interface Metrics {
  /** Names of counters end in `_total`, and only theirs. Every series of a counter exists from the start, at zero. */
  counter<const L extends LabelDeclarations>(name: CounterName, help: string, labels: L): Labelled<L, Counter>;
  counter(name: CounterName, help: string): Counter;
  /** `read` returns the value of one series; it is called for each of them at each scrape. */
  gauge<const L extends LabelDeclarations>(
    name: string,
    help: string,
    read: (values: LabelValues<L>) => number,
    labels?: L,
  ): void;
  /** A gauge for each row of a short list that operators maintain, such as the catalog: read at each scrape. */
  rows(name: string, help: string, rows: Rows): void;
  /** `buckets`: upper bounds, rising, in the unit of the name. */
  histogram<const L extends LabelDeclarations>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels: L,
  ): Labelled<L, Histogram>;
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
}

export type CounterName = `${string}_total`;

/** Each label's name with all the values it can have. */
export type LabelDeclarations = Readonly<Record<string, readonly string[]>>;

/** One declared value for each label. */
export type LabelValues<L extends LabelDeclarations> = { readonly [Name in keyof L]: L[Name][number] };

/** A metric with one series for each combination of label values. */
export interface Labelled<L extends LabelDeclarations, Series> {
  /** The same series every time. Throws TypeError for a value that was not declared. */
  with(values: LabelValues<L>): Series;
}

export interface Rows {
  /** Name of the label that distinguishes the rows. */
  readonly label: string;
  /** No more than 500: the rest is left out. */
  readonly read: () => Iterable<readonly [label: string, value: number]>;
}

export interface Counter {
  /** Adds one, or `by`, which is not negative. */
  inc(by?: number): void;
}

export interface Histogram {
  observe(value: number): void;
}
