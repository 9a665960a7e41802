// The command line as it is, compiled with the benchmark.
import "../../src/main.ts";
