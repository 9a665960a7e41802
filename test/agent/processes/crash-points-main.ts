import { AgentStage, type Backend } from "./agent-stage.ts";
import { type CrashPlan, playAgentCrashPoints } from "./crash-points.ts";
import { crashStories } from "./crash-story.ts";

// npm run agent-crash-points -- [redis|kubernetes] [review|command|issue]...
//
// Kills an agent before and after each of its writes to the API server, and to GitLab, Jira and git, while it reviews,
// does what a comment asks for, or solves an issue; another one finishes. With state in Redis, writes to the API server are
// those to tasks; with state in Kubernetes, those to locks and watermarks, too. The last line is one JSON object. Exits
// with 1 if anything was left undone, done twice or not recorded.
const wanted = process.argv.slice(2);
const isWanted = (name: string, all: readonly string[]) =>
  !all.some((one) => wanted.includes(one)) || wanted.includes(name);
const backends: readonly Backend[] = ["redis", "kubernetes"];
const names = crashStories.map(({ name }) => name);
// A signal that ends this process ends its child processes, too.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.setMaxListeners(0);

const results = [];
for (const backend of backends) if (isWanted(backend, backends)) results.push(...(await playBackend(backend)));
const points = results.reduce((sum, report) => sum + report.points, 0);
const problems = results.flatMap((report) => report.problems);
console.log(JSON.stringify({ points, problems: problems.length, results }));
if (problems.length > 0) process.exitCode = 1;

async function playBackend(backend: Backend) {
  await using stage = await AgentStage.open({ backend, locksTtl: "2s" });
  const whens = ["before", "after"] as const;
  const plans: CrashPlan[] = crashStories
    .filter(({ name }) => isWanted(name, names))
    .flatMap((story) => [{ story, side: "api", whens } as const, { story, side: "remote", whens } as const]);
  const reports: object[] = [];
  const play = async () => {
    for (let plan = plans.shift(); plan; plan = plans.shift()) {
      const { story, side } = plan;
      const report = await playAgentCrashPoints(stage, plan);
      console.log(`${backend}, ${story.name}, ${side}: ${report.points} crash points, ${report.writes} writes`);
      for (const problem of report.problems) console.log(`  ${problem}`);
      reports.push({ backend, story: story.name, side, ...report });
    }
  };
  // Runs wait for processes most of the time.
  await Promise.all([play(), play()]);
  return reports as (Awaited<ReturnType<typeof playAgentCrashPoints>> & object)[];
}
