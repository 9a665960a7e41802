import { isAbsolute, join } from "node:path";
import { runOwner } from "../../run-marks.ts";
import type { PipelineRun } from "../../tekton/pipeline-run.ts";
import { type PipelineTask, type Step, scriptInterpreter } from "../pipeline/spec.ts";
import { expand, expandList } from "../pipeline/variables.ts";
import { knownIn, type TaskView } from "../schedule/decide.ts";
import { type Known, type Params, taskParams, toValues } from "../schedule/values.ts";
import type { RunWorld } from "../schedule/world.ts";
import { taskRunName } from "../status/task-run.ts";

/** A step of a run with everything that it is made of. */
export interface StepPlan {
  readonly argv: readonly string[];
  /** Goes into a file that `argv` names. */
  readonly script?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly params: Params;
}

export interface StepPlace {
  readonly run: PipelineRun;
  readonly world: RunWorld;
  readonly views: ReadonlyMap<string, TaskView>;
  readonly task: PipelineTask;
  readonly attempt: number;
  readonly step: number;
  readonly attemptFolder: string;
  readonly stepFolder: string;
  readonly workflowDir: string;
  /** For every step, before its own. */
  readonly env: Readonly<Record<string, string>>;
}

/** Where the programs of a step are looked for. */
export const stepPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Returns how to run a step: always the same for the same place. */
export function stepPlan(place: StepPlace): StepPlan {
  const { task, attemptFolder, stepFolder } = place;
  const step = task.taskSpec.steps[place.step] as Step;
  const known = knownTo(place);
  const values = toValues(known);

  const scratch = join(attemptFolder, "scratch");
  const workingDir = expand(step.workingDir ?? "", values);
  const own = Object.fromEntries((step.env ?? []).map(({ name, value = "" }) => [name, expand(value, values)]));
  const script = step.script === undefined ? undefined : expand(step.script, values);
  const program =
    script === undefined
      ? expandList(step.command ?? [], values)
      : [...scriptInterpreter(script), join(stepFolder, "script")];
  return {
    argv: [...program, ...expandList(step.args ?? [], values)],
    ...(script !== undefined && { script }),
    env: { PATH: stepPath, LANG: "C.UTF-8", ...place.env, HOME: scratch, TMPDIR: scratch, ...own, ...given(place) },
    workingDir: isAbsolute(workingDir) ? workingDir : join(scratch, workingDir),
    params: known.params,
  };
}

function knownTo({ run, world, views, task, attempt, attemptFolder }: StepPlace): Known {
  const known = knownIn(world, views);
  const own: Readonly<Record<string, string>> = {
    "taskRun.name": taskRunName(run, task.name),
    "taskRun.namespace": world.run.namespace,
    "task.name": task.name,
    "task.retry-count": String(attempt),
  };
  return {
    ...known,
    params: taskParams(task, known),
    context: (path) => own[path] ?? known.context(path),
    resultPath: (name) => join(attemptFolder, "results", name),
  };
}

/** The variables of every step, besides its own. */
function given({ run, workflowDir }: StepPlace): Record<string, string> {
  const { target = "", executionUid = "", fence = "" } = runOwner(run);
  return { TARGET_RESOURCE: target, EXECUTION_UID: executionUid, FENCE: fence, WORKFLOW_DIR: workflowDir };
}
