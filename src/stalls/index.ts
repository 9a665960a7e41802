export { type StallReporter, stallReporter } from "./stall-reporter.ts";
