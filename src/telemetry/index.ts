export { limitedWarnings, limitLog, type WarnLimited } from "./log-limit.ts";
export { redactingLogger } from "./loggable.ts";
export { type Logger, type LogLevel, silentLogger } from "./logger.ts";
export type { Counter, Metrics } from "./metrics.ts";
export { pinoLogger } from "./pino-logger.ts";
export { cutText, toPrintable, toStorable } from "./printable.ts";
export { type MetricSample, type PromMetrics, promMetrics } from "./prom-metrics.ts";
export { isSecretName } from "./without-credentials.ts";
export { findSecret, withoutSecrets } from "./without-secrets.ts";
