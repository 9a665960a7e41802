export { type StallReporter, type StallReporterOptions, type Subject, stallReporter } from "./stall-reporter.ts";
