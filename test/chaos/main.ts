import { rmSync } from "node:fs";
import { parseArgs } from "node:util";
import { Dice } from "./dice.ts";
import { type Figures, sumOf } from "./figures.ts";
import { monotonicMs } from "./history.ts";
import type { Backend } from "./locks-under-test.ts";
import { mix } from "./mix.ts";
import { type Performance, perform, reportOf, type Scenario } from "./perform.ts";
import { scenariosOn } from "./scenarios.ts";
import { openTheatre } from "./theatre.ts";

// npm run chaos -- --backend redis --minutes 3 --seed 42 --scenario "holders are killed"
//
// Real processes, a real Redis or API server, real faults: every scenario once, then a random mix. The seed repeats the choices, not
// the timing. Exits with 1 if the locks let anything happen that they must not.
const { values } = parseArgs({
  options: {
    backend: { type: "string", default: "redis" },
    minutes: { type: "string" },
    seed: { type: "string" },
    scenario: { type: "string" },
  },
});
const backend = backendNamed(values.backend);
const minutes = Number(values.minutes ?? 3);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const mixSeconds = 20;

const theatre = await openTheatre();
console.log(`seed ${seed}, histories in ${theatre.dir}`);
console.log(row("", ["faults", "grants", "lost", "effects", "refused", "overlaps", "violations", "recovery"]));
const dice = new Dice(seed);
const performances: Performance[] = [];

for (const scenario of chosen()) await show(scenario, values.scenario ? seed : dice.seed());
// The mix needs proxies, which clients of Sentinels go past.
if (backend !== "sentinel" && (values.scenario === undefined || values.scenario === "mix")) {
  const until = monotonicMs() + minutes * 60_000;
  for (let first = true; monotonicMs() < until; first = false) {
    const mixSeed = values.scenario && first ? seed : dice.seed();
    await show(mix(backend, mixSeed, mixSeconds), mixSeed);
  }
}
conclude();

function backendNamed(name: string): Backend {
  if (name === "redis" || name === "sentinel" || name === "kubernetes") return name;
  throw new Error(`there is no backend ${name}; there are: redis, sentinel, kubernetes`);
}

function chosen(): readonly Scenario[] {
  const scenarios = scenariosOn(backend);
  if (values.scenario === undefined) return scenarios;
  const found = scenarios.filter(({ name }) => name === values.scenario);
  if (found.length > 0 || values.scenario === "mix") return found;
  throw new Error(`there is no such scenario; there are: mix, ${scenarios.map(({ name }) => name).join(", ")}`);
}

async function show(scenario: Scenario, itsSeed: number) {
  const performance = await perform(scenario, itsSeed, theatre);
  performances.push(performance);
  console.log(rowOf(scenario.name, performance.figures));
  const report = reportOf(performance);
  if (report) console.log(report.replaceAll(/^/gm, "    "));
}

function conclude() {
  const total = sumOf(performances.map(({ figures }) => figures));
  console.log(rowOf("total", total));
  console.log("\nfaults injected");
  for (const [fault, count] of Object.entries(total.faults).sort()) console.log(`  ${fault.padEnd(20)}${count}`);

  const failed = performances
    .filter(({ violations }) => violations.length > 0)
    .map(({ scenario, seed, history }) => ({ scenario, seed, history }));
  if (failed.length > 0) process.exitCode = 1;
  else rmSync(theatre.dir, { recursive: true });
  console.log(JSON.stringify({ backend, seed, scenarios: performances.length, ...total, failed }));
}

function rowOf(name: string, figures: Figures): string {
  const { faults, grants, lost, effects, refused, overlaps, violations, recoveryMs } = figures;
  const injected = Object.values(faults).reduce((sum, count) => sum + count, 0);
  return row(name, [injected, grants, lost, effects, refused, overlaps, violations, `${recoveryMs} ms`]);
}

function row(name: string, columns: readonly (number | string)[]): string {
  return `${name.padEnd(74)}${columns.map((column) => `${column}`.padStart(11)).join("")}`;
}
