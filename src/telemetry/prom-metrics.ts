import * as prom from "prom-client";
import { allSeries, checkDeclaration, type Declaration, type SeriesLabels } from "./metric-series.ts";
import type {
  Counter,
  CounterSpec,
  Gauge,
  GaugeSpec,
  Histogram,
  HistogramSpec,
  LabelDeclarations,
  Labelled,
  Metrics,
  RowsSpec,
} from "./metrics.ts";

export interface PromMetrics extends Metrics {
  /** The current values of the metrics whose name matches. Rejects if a `collect` throws. */
  series(name: RegExp): Promise<readonly MetricSample[]>;
  /** The body of /metrics. Rejects if a `collect` throws. */
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
    counter(spec: CounterSpec) {
      checkDeclaration(spec, "counter");
      const vendor = new prom.Counter(vendorSpec(spec, registry));
      return metric(spec, (labels) => counterSeries(spec.name, vendor.labels(labels)));
    },
    gauge(spec: GaugeSpec<Either<Gauge>>) {
      checkDeclaration(spec, "gauge");
      const vendor = new prom.Gauge({ ...vendorSpec(spec, registry), collect: () => spec.collect?.(gauge) });
      const gauge = metric(spec, (labels): Gauge => vendor.labels(labels));
      return gauge;
    },
    rows(spec: RowsSpec) {
      checkDeclaration({ ...spec, labels: { [spec.label]: ["row"] } }, "gauge");
      const vendor = new prom.Gauge({
        ...vendorSpec({ ...spec, labels: { [spec.label]: [] } }, registry),
        collect() {
          // A row that is gone must not keep its last value.
          vendor.reset();
          for (const [row, value] of [...spec.read()].slice(0, maxRows)) vendor.set({ [spec.label]: row }, value);
        },
      });
    },
    histogram(spec: HistogramSpec) {
      checkDeclaration(spec, "histogram");
      const vendor = new prom.Histogram({ ...vendorSpec(spec, registry), buckets: [...spec.buckets] });
      return metric(spec, (labels): Histogram => vendor.labels(labels));
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
