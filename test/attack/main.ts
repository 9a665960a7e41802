import { parseArgs } from "node:util";
import { attack, maxRssMb } from "./attack.ts";

// npm run attack -- --minutes 10 --seed 1 [--only "yaml bombs"]
//
// Starts `interlock up` and attacks it: slow connections, large batches, deep JSON and YAML, expensive expressions and
// labels, fingerprints without end, escapes, wrong tokens and types, broken HTTP. Exits with 1 if /healthz took longer
// than 250 ms in more than one of a hundred requests, if memory was not bounded, or if a request was answered wrongly.
const { values } = parseArgs({
  options: { minutes: { type: "string" }, seed: { type: "string" }, only: { type: "string" } },
});
const minutes = Number(values.minutes ?? 10);
const seed = Number(values.seed ?? 1);
if (!(minutes > 0) || !Number.isSafeInteger(seed)) {
  console.error("error: --minutes and --seed are numbers; see test/attack/main.ts");
  process.exit(2);
}

const maxP99Ms = 250;
const report = await attack({
  seconds: minutes * 60,
  seed,
  only: values.only ?? "",
  print: (line) => console.log(line),
});
const violations = [...report.violations];
if (report.health.p99Ms > maxP99Ms)
  violations.push(`/healthz p99 is ${report.health.p99Ms} ms, more than ${maxP99Ms} ms`);
if (report.rssMb.max > maxRssMb) violations.push(`RSS reached ${report.rssMb.max} MB, more than ${maxRssMb} MB`);

for (const [name, counts] of Object.entries(report.tally))
  console.log(`  ${name.padEnd(28)} ${JSON.stringify(counts)}`);
console.log(`  /healthz p50 ${report.health.p50Ms} ms, p99 ${report.health.p99Ms} ms, max ${report.health.maxMs} ms`);
console.log(`  RSS ${report.rssMb.start} MB before, ${report.rssMb.max} MB at most, ${report.rssMb.end} MB after`);
for (const violation of violations) console.log(`  violation: ${violation}`);
console.log(JSON.stringify({ seed, minutes, ...report, violations }));
process.exit(violations.length === 0 ? 0 : 1);
