import { startLocalRunner } from "../../../src/engines/index.ts";
import { systemFiles } from "../../../src/engines/local/runner/files.ts";
import { systemProcesses } from "../../../src/engines/local/steps/system-processes.ts";
import { httpClient } from "../../../src/kube/index.ts";
import { promMetrics, silentLogger } from "../../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import type { RunnerPlan } from "./runner-process.ts";

// A runner that is killed by itself, without warning, at the change that its plan names.
const plan = JSON.parse(process.argv[2] ?? "") as RunnerPlan;
const clock = systemClock();
const random = systemRandom();
let count = 0;

/** `deed` with its death before or after it. */
function fatal<A extends readonly unknown[], R>(deed: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  return async (...args) => {
    count++;
    const isLast = count === plan.dieAt?.nth;
    if (isLast && plan.dieAt?.when === "before") die();
    const result = await deed(...args);
    if (isLast) die();
    return result;
  };
}

/** After a change of a file comes nothing but the next change, so the death after it is the death before that. */
function fatalBefore<A extends readonly unknown[], R>(deed: (...args: A) => Promise<R>): typeof deed {
  return plan.dieAt?.when === "before" ? fatal(deed) : deed;
}

/** Its promise resolves when the wrapper has ended; the death we want is right after the fork. */
function fatalStart(start: ReturnType<typeof systemProcesses>["start"]): typeof start {
  return async (launch, abandon) => {
    count++;
    const isLast = count === plan.dieAt?.nth;
    if (isLast && plan.dieAt?.when === "before") die();
    const wrapper = start(launch, abandon);
    if (isLast) setImmediate(() => setImmediate(die));
    return await wrapper;
  };
}

function die() {
  process.kill(process.pid, "SIGKILL");
}

const real = httpClient({ connection: { url: plan.url, credentials: { token: plan.token } }, clock, random });
const files = systemFiles();
const processes = systemProcesses();
await startLocalRunner({
  client: {
    ...real,
    create: fatal(real.create.bind(real)) as typeof real.create,
    update: fatal(real.update.bind(real)) as typeof real.update,
    patch: fatal(real.patch.bind(real)) as typeof real.patch,
    delete: fatal(real.delete.bind(real)),
  },
  files: {
    write: fatalBefore(files.write),
    makeDirectory: fatalBefore(files.makeDirectory),
    remove: fatalBefore(files.remove),
  },
  processes: { ...processes, start: fatalStart(processes.start) },
  clock,
  random,
  log: silentLogger,
  metrics: promMetrics(),
  dataDir: plan.dataDir,
  workflowsRoot: plan.workflowsRoot,
  namespace: "kubernaut-workflows",
  env: { WITNESS: plan.witnessFile },
  graceMs: 500,
  // Progress in between depends on how fast the machine is, and the count should not.
  progressMs: 600_000,
});
