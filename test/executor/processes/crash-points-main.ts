import type { Engine } from "../../../src/resources/index.ts";
import { stories } from "./crash-point.ts";
import { playCrashPoints } from "./crash-points.ts";
import { Stage } from "./stage.ts";

// npm run crash-points -- [tekton|job|local]...
//
// Kills an executor before and after each of its writes, and pauses it before each, for each engine and story; another
// one finishes. The last line is one JSON object. Exits with 1 if anything was left undone, done twice or not recorded.
const engines: readonly Engine[] = ["tekton", "job", "local"];
const wanted = process.argv.slice(2);
// A signal that ends this process ends its child processes, too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
// Every process that is alive has one that ends it.
process.setMaxListeners(100);
const chosen = engines.filter((name) => wanted.length === 0 || wanted.includes(name));
// Each on a stage of its own: most of the time goes by with waiting for processes.
const results = (await Promise.all(chosen.map(playEngine))).flat();
console.log(JSON.stringify({ results }));
if (results.some(({ problems }) => problems.length > 0)) process.exitCode = 1;

async function playEngine(engine: Engine) {
  await using stage = await Stage.open({ engines: [engine] });
  const reports = [];
  for (const story of stories) {
    const report = await playCrashPoints(stage, { engine, story, mishaps: mishapsOf(engine) });
    console.log(`${engine}, an execution that ${story.name}: ${report.points} crash points, ${report.writes} writes`);
    for (const problem of report.problems) console.log(`  ${problem}`);
    reports.push({ engine, story: story.name, ...report });
  }
  return reports;
}

/** A paused process keeps the directory of the local engine, which belongs to one at a time: others wait for it. */
function mishapsOf(engine: Engine) {
  return engine === "local"
    ? (["dies before", "dies after"] as const)
    : (["dies before", "dies after", "is paused before"] as const);
}
