export { type StalledSubject, type StallReporter, type StallReporterOptions, stallReporter } from "./stall-reporter.ts";
