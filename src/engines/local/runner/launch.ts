import { isAbsolute, join } from "node:path";
import { runOwner } from "../../run-marks.ts";
import type { PipelineRun } from "../../tekton/pipeline-run.ts";
import { type PipelineTask, type Step, scriptInterpreter } from "../pipeline/spec.ts";
import { type TaskView, valueSource } from "../schedule/decide.ts";
import type { RunSnapshot } from "../schedule/run-snapshot.ts";
import { expand, expandList, type Params, taskParams, type ValueSource } from "../schedule/values.ts";
import { taskRunName } from "../status/task-run.ts";

/** How a step is run. */
export interface StepPlan {
  readonly argv: readonly string[];
  /** The content of the script file that `argv` names. */
  readonly script?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workingDir: string;
  readonly params: Params;
}

export interface StepPlace {
  readonly run: PipelineRun;
  readonly snapshot: RunSnapshot;
  readonly views: ReadonlyMap<string, TaskView>;
  readonly task: PipelineTask;
  readonly attempt: number;
  readonly step: number;
  readonly attemptFolder: string;
  readonly stepFolder: string;
  readonly workflowDir: string;
  /** The variables of every step. Those of the step itself override them. */
  readonly env: Readonly<Record<string, string>>;
}

/** The PATH of a step. */
export const stepPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Returns how to run a step. The result depends only on the place. */
export function stepPlan(place: StepPlace): StepPlan {
  const { task, attemptFolder, stepFolder } = place;
  const step = task.taskSpec.steps[place.step] as Step;
  const source = stepValueSource(place);

  const scratch = join(attemptFolder, "scratch");
  const workingDir = expand(step.workingDir ?? "", source);
  const own = Object.fromEntries((step.env ?? []).map(({ name, value = "" }) => [name, expand(value, source)]));
  const script = step.script === undefined ? undefined : expand(step.script, source);
  const program =
    script === undefined
      ? expandList(step.command ?? [], source)
      : [...scriptInterpreter(script), join(stepFolder, "script")];
  return {
    argv: [...program, ...expandList(step.args ?? [], source)],
    ...(script !== undefined && { script }),
    env: {
      PATH: stepPath,
      LANG: "C.UTF-8",
      ...place.env,
      HOME: scratch,
      TMPDIR: scratch,
      ...own,
      ...reservedVariables(place),
    },
    workingDir: isAbsolute(workingDir) ? workingDir : join(scratch, workingDir),
    params: source.params,
  };
}

function stepValueSource({ run, snapshot, views, task, attempt, attemptFolder }: StepPlace): ValueSource {
  const source = valueSource(snapshot, views);
  const own: Readonly<Record<string, string>> = {
    "taskRun.name": taskRunName(run, task.name),
    "taskRun.namespace": snapshot.run.namespace,
    "task.name": task.name,
    "task.retry-count": String(attempt),
  };
  return {
    ...source,
    params: taskParams(task, source),
    context: (path) => own[path] ?? source.context(path),
    resultPath: (name) => join(attemptFolder, "results", name),
  };
}

/** Returns the variables that no step can override. */
function reservedVariables({ run, workflowDir }: StepPlace): Record<string, string> {
  const { target = "", executionUid = "", fence = "" } = runOwner(run);
  return { TARGET_RESOURCE: target, EXECUTION_UID: executionUid, FENCE: fence, WORKFLOW_DIR: workflowDir };
}
