import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { targets as agent } from "../bench/agent/targets.ts";
import { targets as cli } from "../bench/cli/targets.ts";
import { targets as consoleTargets } from "../bench/console/targets.ts";
import { targets as executor } from "../bench/executor/targets.ts";
import { targets as gateway } from "../bench/gateway/targets.ts";
import { targets as ledger } from "../bench/ledger/targets.ts";
import { targets as locks } from "../bench/locks/targets.ts";
import { targets as store } from "../bench/store/targets.ts";
import { type Targets, verdicts } from "../bench/verdicts.ts";

// npm run bench -- [--quick] [--write]
//
// Runs every benchmark, one after the other, and ends with one JSON line that has all figures by benchmark. `--write` puts
// them into docs/benchmarks.md: run it on a machine that has nothing else to do.

const benches: readonly (readonly [string, Targets])[] = [
  ["executor", executor],
  ["gateway", gateway],
  ["store", store],
  ["ledger", ledger],
  ["agent", agent],
  ["locks", locks],
  ["cli", cli],
  ["console", consoleTargets],
];
const page = "docs/benchmarks.md";
const [begin, end] = ["<!-- measured: npm run bench -- --write -->", "<!-- end of measured -->"];
const isQuick = process.argv.includes("--quick");

const machine = `Node ${process.versions.node}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)} before the start`;
const results: Record<string, Figures> = {};
for (const [name] of benches) results[name] = await measure(name);
if (process.argv.includes("--write")) write();
console.log(JSON.stringify(results));

interface Figures {
  readonly [name: string]: number | Figures;
}

/** Runs one benchmark with its output on ours. Its last line is its result. */
async function measure(name: string): Promise<Figures> {
  console.log(`\n── bench:${name}`);
  const args = ["run", "-s", `bench:${name}`, "--", ...(isQuick ? ["--quick"] : [])];
  const child = spawn("npm", args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    process.stdout.write(chunk);
    output += chunk;
  }
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  if (!last.startsWith("{")) throw new Error(`bench:${name} ended without a result; see its output above`);
  return JSON.parse(last);
}

/** Replaces the measured figures of the page. */
function write(): void {
  const text = readFileSync(page, "utf8");
  const [before = "", rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (after === undefined) throw new Error(`${page} lacks the lines ${begin} and ${end}`);
  const tables = benches.map(([name, targets]) => table(name, results[name] ?? {}, targets));
  const command = `npm run bench${isQuick ? " -- --quick" : ""}`;
  const intro = `One run of \`${command}\`: ${machine}.`;
  writeFileSync(page, [before + begin, intro, ...tables, end + after].join("\n\n"));
}

function table(name: string, { calibration, ...figures }: Figures, targets: Targets): string {
  const numbers = Object.entries(figures).filter((entry): entry is [string, number] => typeof entry[1] === "number");
  const rows = verdicts(Object.fromEntries(numbers), targets).map(
    ([figure, value, target, verdict]) => `| \`${figure}\` | ${format(value)} | ${target} | ${verdict} |`,
  );
  const beside = Object.entries(typeof calibration === "object" ? calibration : {})
    .filter((entry): entry is [string, number] => typeof entry[1] === "number")
    .map(([figure, value]) => `\`${figure}\` ${format(value)}`);
  return [
    `### bench:${name}`,
    "",
    "| figure | measured | target | |",
    "|---|---|---|---|",
    ...rows,
    ...(beside.length > 0 ? ["", `Beside it: ${beside.join(", ")}.`] : []),
  ].join("\n");
}

function format(value: number): string {
  return Math.abs(value) >= 1_000 ? Math.round(value).toLocaleString("en") : String(value);
}
