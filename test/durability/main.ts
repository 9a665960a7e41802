import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { monotonicMs } from "../chaos/history.ts";
import { type TortureOptions, torture } from "./torture.ts";

// npm run durability -- --rounds 200 --large-rounds 3 --seed 42
//
// Kills a process that writes at full speed and checks what it left: rounds with up to 2,000 objects and hardly a pause
// between snapshots, then rounds with 100,000. The seed repeats the choices, not the timing. Exits with 1 if anything
// acknowledged or shown was lost, torn or numbered twice; then the directory is kept.
const { values } = parseArgs({
  options: { rounds: { type: "string" }, "large-rounds": { type: "string" }, seed: { type: "string" } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const rounds = Number(values.rounds ?? 200);
const largeRounds = Number(values["large-rounds"] ?? 3);
const results = [];
console.log(`seed ${seed}`);

const space = { compactedFromBytes: 64 * 1024, compactedFromRatio: 0.1, reservedBytes: 128 * 1024 };
if (rounds > 0) results.push(await run("up to 2,000 objects", { rounds, objects: 2_000, seed, space }));
if (largeRounds > 0) {
  results.push(await run("100,000 objects", { rounds: largeRounds, objects: 100_000, seed, space, whenFull: true }));
}
console.log(JSON.stringify({ seed, results }));
if (results.some(({ violations }) => violations.length > 0)) process.exitCode = 1;

async function run(name: string, options: Omit<TortureOptions, "directory">) {
  const directory = mkdtempSync(join(tmpdir(), "interlock-torture-"));
  const startedAt = monotonicMs();
  const { violations, ...figures } = await torture({ directory, ...options });
  const seconds = Math.round((monotonicMs() - startedAt) / 1_000);

  console.log(`\n${name}, ${seconds} s`);
  for (const [figure, value] of Object.entries(figures)) console.log(`  ${figure.padEnd(14)} ${Math.round(value)}`);
  console.log(`  violations     ${violations.length}`);
  for (const violation of violations.slice(0, 20)) console.log(`    ${violation}`);
  if (violations.length === 0) rmSync(directory, { recursive: true });
  else console.log(`  kept: ${directory}`);
  return { name, seconds, ...figures, violations };
}
