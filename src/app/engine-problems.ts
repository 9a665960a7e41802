import type { Engine } from "../engines/index.ts";
import { isAllowed, KubeError } from "../kube/index.ts";
import type { StageOptions } from "./stage.ts";

/**
 * Logs the engines that can run nothing here, with the fix. The executor starts anyway: other engines work, and the
 * problem may be solved while it runs.
 */
export async function reportEngineProblems(engines: readonly Engine[], options: StageOptions): Promise<void> {
  const { log, health } = options;
  const messages: string[] = [];
  for (const engine of engines) {
    const found = await findProblem(engine, options);
    if (!found) continue;
    log.warn("engine not set up", { engine: engine.name, ...found });
    messages.push(`engine ${engine.name}: ${found.problem}`);
  }
  // The others are not reported: nothing checks again whether they are solved, and failed watches are reported anyway.
  if (isEmbedded(options)) health?.reporter("engines")(messages);
}

interface EngineProblem {
  readonly problem: string;
  readonly next: string;
}

/** The part of a cluster that executes the runs of an engine. */
const controllers = { tekton: "Tekton", job: "Job controller", local: undefined } as const;

async function findProblem({ name, runs }: Engine, options: StageOptions): Promise<EngineProblem | undefined> {
  const controller = controllers[name];
  if (controller === undefined) return undefined;
  const removal = `remove ${name} from execution.engines`;
  if (isEmbedded(options)) {
    return {
      problem: `the embedded API server has no ${controller}: a ${runs.kind} is stored and never executed`,
      next: `${removal}, or start the stages in a cluster that has one (docs/cluster.md)`,
    };
  }
  const { client, loaded } = options;
  const { namespace } = loaded.config.execution;
  try {
    await client.list(runs, { namespace });
    const missing = await findMissingVerbs(runs, options);
    if (missing.length === 0) return undefined;
    const problem = `no right to ${missing.join(", ")} ${runs.plural} in the namespace ${namespace}`;
    return { problem, next: `${grant}, or ${removal}` };
  } catch (error) {
    // An API server that does not respond is not the fault of an engine; the informers report it.
    if (!(error instanceof KubeError) || (error.code !== "forbidden" && error.code !== "invalid")) return undefined;
    const fix = error.code === "forbidden" ? grant : `install ${runs.apiVersion}`;
    return { problem: error.message, next: `${fix}, or ${removal}` };
  }
}

/** The embedded server has a single user. */
function isEmbedded({ onlyUser }: StageOptions): boolean {
  return onlyUser !== undefined;
}

const grant = "grant the executor's role with: interlock install";

/** The rights without which a run cannot be created, started and deleted. They are not checked where reviews are not served. */
async function findMissingVerbs(
  { apiVersion, plural }: Engine["runs"],
  { client, loaded }: StageOptions,
): Promise<readonly string[]> {
  const [group = ""] = apiVersion.split("/");
  const { namespace } = loaded.config.execution;
  const missing: string[] = [];
  for (const verb of ["watch", "create", "patch", "delete"]) {
    const attributes = { verb, group, resource: plural, namespace };
    const allowed = await isAllowed(client, attributes).catch(() => true);
    if (!allowed) missing.push(verb);
  }
  return missing;
}
