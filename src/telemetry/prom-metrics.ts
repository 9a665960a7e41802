import * as prom from "prom-client";
import { allSeries, checkDeclaration, type Declaration, listSeries, type SeriesLabels } from "./metric-series.ts";
import type { Counter, Histogram, LabelDeclarations, Labelled, Metrics, Rows } from "./metrics.ts";

export interface PromMetrics extends Metrics {
  /** The current values of the metrics whose name matches. Rejects if the read of a gauge throws. */
  series(name: RegExp): Promise<readonly MetricSample[]>;
  /** The body of /metrics. Rejects if the read of a gauge throws. */
  text(): Promise<string>;
  /** Its content type. */
  readonly contentType: string;
}

/** The value of one series. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly value: number;
}

/** Metrics in the format of Prometheus, in a registry of their own. */
export function promMetrics(): PromMetrics {
  const registry = new prom.Registry();

  return {
    counter(name: string, help: string, labels?: LabelDeclarations) {
      const spec = { name, help, labels };
      checkDeclaration(spec, "counter");
      const vendor = new prom.Counter(vendorSpec(spec, registry));
      return metric(spec, (values) => counterSeries(name, vendor.labels(values)));
    },
    gauge(name: string, help: string, read: (values: never) => number, labels: LabelDeclarations = {}) {
      const spec = { name, help, labels };
      checkDeclaration(spec, "gauge");
      const series = listSeries(labels);
      const vendor = new prom.Gauge({
        ...vendorSpec(spec, registry),
        collect() {
          for (const values of series) vendor.set(values, read(values as never));
        },
      });
    },
    rows(name: string, help: string, { label, read }: Rows) {
      const spec = { name, help, labels: { [label]: ["row"] } };
      checkDeclaration(spec, "gauge");
      const vendor = new prom.Gauge({
        ...vendorSpec(spec, registry),
        collect() {
          // A row that is gone must not keep its last value.
          vendor.reset();
          for (const [row, value] of [...read()].slice(0, maxRows)) vendor.set({ [label]: row }, value);
        },
      });
    },
    histogram(name: string, help: string, buckets: readonly number[], labels?: LabelDeclarations) {
      const spec = { name, help, labels, buckets };
      checkDeclaration(spec, "histogram");
      const vendor = new prom.Histogram({ ...vendorSpec(spec, registry), buckets: [...buckets] });
      return metric(spec, (values): Histogram => vendor.labels(values));
    },
    async series(name) {
      const found = registry.getMetricsAsArray().filter((metric) => name.test(metric.name));
      const read = await Promise.all(found.map((metric) => registry.getSingleMetric(metric.name)?.get()));
      return read.flatMap((metric) => metric?.values ?? []);
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Prometheus keeps each of them, for each replica. */
const maxRows = 500;

function vendorSpec({ name, help, labels = {} }: Declaration, registry: prom.Registry) {
  if (registry.getSingleMetric(name)) throw new TypeError(`metric ${name} is declared twice`);
  return { name, help, labelNames: Object.keys(labels), registers: [registry] };
}

/** The overloads of `Metrics` decide which of the two a caller gets. */
type Either<S> = S & Labelled<LabelDeclarations, S>;

function metric<S>(spec: Declaration, make: (labels: SeriesLabels) => S): Either<S> {
  const series = allSeries(spec, make);
  return (spec.labels ? series : series.with({})) as Either<S>;
}

function counterSeries(name: string, series: prom.Counter.Internal): Counter {
  // From nothing to one Prometheus sees no rise, so without this the first failure after a start is invisible.
  series.inc(0);
  return {
    inc(by = 1) {
      if (!(by >= 0)) throw new TypeError(`${name} only rises, got ${by}`);
      series.inc(by);
    },
  };
}
