import { parseArgs } from "node:util";
import { startPostgres } from "../services/postgres.ts";
import { startRedis } from "../services/redis.ts";
import { releasedProgram } from "../services/released-program.ts";
import { playStorm } from "./storm.ts";

// npm run storm -- --signals 10000 --targets 40 --replicas 3 --seed 7 --locks redis --ledger postgres
// npm run storm -- --minutes 5 --combinations all
// npm run storm -- --before newest
//
// Signals of all kinds while stages are killed and stopped at random, so many or for so long; on one combination of locks
// and ledger, or on each of the four. The last line is one JSON object. Exits with 1 if anything that was accepted is not
// recorded and decided, two steps were at work on a target, a chain is broken, a notice never arrived, or why disagrees.
const { values } = parseArgs({
  options: {
    signals: { type: "string", default: "10000" },
    minutes: { type: "string" },
    targets: { type: "string", default: "40" },
    replicas: { type: "string", default: "3" },
    seed: { type: "string" },
    "kill-every": { type: "string", default: "1500" },
    combinations: { type: "string" },
    locks: { type: "string", default: "kubernetes" },
    ledger: { type: "string", default: "sqlite" },
    // Every second replica starts as this release, and is upgraded when it was killed: a tarball, or "newest" of test/releases.
    before: { type: "string" },
  },
});
// A signal that ends this process ends its child processes, too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const all = ["kubernetes", "redis"].flatMap((locks) => ["sqlite", "postgres"].map((ledger) => ({ locks, ledger })));
using before =
  values.before === undefined ? undefined : releasedProgram(values.before === "newest" ? undefined : values.before);
if (before) console.log(`before: ${before.version}`);
const results = [];
for (const combination of values.combinations === "all" ? all : [values]) {
  const { seconds, figures, problems } = await playOn(combination);
  const { locks, ledger } = combination;
  console.log(`locks ${locks}, ledger ${ledger}, ${Math.round(seconds)} s`);
  for (const [what, figure] of Object.entries(figures)) console.log(`  ${what.padEnd(28)} ${figure}`);
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
  results.push({ locks, ledger, seconds: Math.round(seconds), ...figures, problems });
}
console.log(JSON.stringify({ problems: results.flatMap(({ problems }) => problems).length, results }));
if (results.some(({ problems }) => problems.length > 0)) process.exitCode = 1;

async function playOn({ locks, ledger }: { readonly locks: string; readonly ledger: string }) {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed}`);
  const replicas = Number(values.replicas);
  const redis = locks === "redis" ? await startRedis({ persistence: "always" }) : undefined;
  const postgres = ledger === "postgres" ? await startPostgres() : undefined;
  try {
    return await playStorm({
      signals: Number(values.signals),
      ...(values.minutes === undefined ? {} : { forMs: Number(values.minutes) * 60_000 }),
      targets: Number(values.targets),
      killEveryMs: Number(values["kill-every"]),
      seed,
      gateways: replicas,
      orchestrators: replicas,
      executors: replicas,
      notifiers: replicas,
      ...(before && { before: before.program }),
      env: {
        LOCKS_BACKEND: locks,
        ...(redis && { REDIS_URL: redis.url }),
        ...(postgres && { LEDGER_URL: postgres.url }),
      },
    });
  } finally {
    await redis?.stop();
    await postgres?.stop();
  }
}
