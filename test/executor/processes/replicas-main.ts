import { parseArgs } from "node:util";
import { playReplicas } from "./replicas.ts";

// npm run replicas -- --replicas 5 --executions 1000 --targets 50
//
// Several executors on one API server. The last line is one JSON object. Exits with 1 if two steps were at work on a
// target, an execution did not end as it should, or the ledger is wrong.
const { values } = parseArgs({
  options: {
    replicas: { type: "string", multiple: true, default: ["2", "5"] },
    executions: { type: "string", default: "1000" },
    targets: { type: "string", default: "50" },
  },
});
const results = [];
// A signal that ends this process ends its child processes, too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
for (const replicas of values.replicas.map(Number)) {
  const plan = { replicas, executions: Number(values.executions), targets: Number(values.targets) };
  const { seconds, counts, problems } = await playReplicas(plan);
  console.log(`${replicas} replicas, ${plan.executions} executions, ${plan.targets} targets: ${seconds.toFixed(1)} s`);
  for (const [end, count] of Object.entries(counts)) console.log(`  ${end.padEnd(34)} ${count}`);
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
  results.push({ ...plan, seconds: Math.round(seconds), ...counts, problems });
}
console.log(JSON.stringify({ results }));
if (results.some(({ problems }) => problems.length > 0)) process.exitCode = 1;
