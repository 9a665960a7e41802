export { redactingLogger } from "./loggable.ts";
export { type Logger, type LogLevel, silentLogger } from "./logger.ts";
export type {
  Counter,
  CounterSpec,
  Gauge,
  GaugeSpec,
  Histogram,
  HistogramSpec,
  LabelDeclarations,
  Labelled,
  LabelValues,
  MetricSpec,
  Metrics,
} from "./metrics.ts";
export { type PinoLoggerOptions, pinoLogger } from "./pino-logger.ts";
export { cutText, toPrintable } from "./printable.ts";
export { type MetricSample, type PromMetrics, promMetrics } from "./prom-metrics.ts";
export { isSecretName } from "./without-credentials.ts";
export { findSecret, withoutSecrets } from "./without-secrets.ts";
