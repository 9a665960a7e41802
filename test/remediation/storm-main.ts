import { parseArgs } from "node:util";
import { startPostgres } from "../services/postgres.ts";
import { startRedis } from "../services/redis.ts";
import { playStorm } from "./storm.ts";

// npm run storm -- --signals 10000 --targets 40 --replicas 3 --seed 7 --locks redis --ledger postgres
//
// Signals of all kinds while stages are killed at random. The last line is one JSON object. Exits with 1 if anything that
// was accepted is not recorded and decided, or two steps were at work on a target.
const { values } = parseArgs({
  options: {
    signals: { type: "string", default: "10000" },
    targets: { type: "string", default: "40" },
    replicas: { type: "string", default: "3" },
    seed: { type: "string" },
    "kill-every": { type: "string", default: "1500" },
    locks: { type: "string", default: "kubernetes" },
    ledger: { type: "string", default: "sqlite" },
  },
});
// Whoever ends at a signal ends its processes, too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const replicas = Number(values.replicas);
const plan = {
  signals: Number(values.signals),
  targets: Number(values.targets),
  killEveryMs: Number(values["kill-every"]),
  seed,
};
console.log(`seed ${seed}`);
const redis = values.locks === "redis" ? await startRedis({ persistence: "always" }) : undefined;
const postgres = values.ledger === "postgres" ? await startPostgres() : undefined;
const env = {
  LOCKS_BACKEND: values.locks,
  ...(redis && { REDIS_URL: redis.url }),
  ...(postgres && { LEDGER_URL: postgres.url }),
};
const result = await playStorm({ ...plan, gateways: replicas, orchestrators: replicas, executors: replicas, env });
await redis?.stop();
await postgres?.stop();
for (const [what, figure] of Object.entries(result.figures)) console.log(`  ${what.padEnd(28)} ${figure}`);
for (const problem of result.problems.slice(0, 20)) console.log(`  ${problem}`);
console.log(
  JSON.stringify({ seed, seconds: Math.round(result.seconds), ...result.figures, problems: result.problems }),
);
if (result.problems.length > 0) process.exitCode = 1;
