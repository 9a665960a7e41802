import { isSecretName } from "../../../telemetry/index.ts";
import { codeArguments } from "./code-arguments.ts";
import type { Report } from "./shape.ts";
import { type ParamSpec, type PipelineSpec, type PipelineTask, type Step, stepName, type TaskSpec } from "./spec.ts";
import { cannotStandHere, paramProblems } from "./variable-problems.ts";
import { mentionsIn, wholeList } from "./variables.ts";

/** Set by the engine for every step. */
const reservedVariables: readonly string[] = ["TARGET_RESOURCE", "EXECUTION_UID", "FENCE", "WORKFLOW_DIR"];

interface Place {
  /** Path of the task. */
  readonly path: string;
  readonly pipeline: PipelineSpec;
}

/** Reports what is wrong with one step of a task. */
export function stepProblems({ taskSpec }: PipelineTask, index: number, place: Place, report: Report): void {
  const step = taskSpec.steps[index] as Step;
  const path = `${place.path}.taskSpec.steps[${index}]`;
  const others = taskSpec.steps.slice(0, index).map(stepName);
  if (others.includes(stepName(step, index))) report(`${path}.name`, "another step of this task has the same name");
  if (step.script !== undefined && step.command) report(path, "has a script and a command; keep one of them");
  if (step.script === undefined && !step.command) {
    report(path, "has neither script nor command; there is no image whose entrypoint could be run");
  }

  const world = { taskSpec, params: visibleParams(taskSpec, place.pipeline) };
  if (step.script !== undefined) codeProblems(step.script, `${path}.script`, world, report);
  argumentProblems(step, path, world, report);
  plainTextProblems(step.workingDir ?? "", `${path}.workingDir`, world, report);
  for (const [at, { name, value = "" }] of (step.env ?? []).entries()) {
    if (reservedVariables.includes(name)) report(`${path}.env[${at}].name`, `${name} is set by the engine`);
    plainTextProblems(value, `${path}.env[${at}].value`, world, report);
  }
}

interface StepWorld {
  readonly taskSpec: TaskSpec;
  readonly params: readonly ParamSpec[];
}

/** A task sees its own parameters, and those of the pipeline that it does not have itself. */
function visibleParams({ params: own = [] }: TaskSpec, { params = [] }: PipelineSpec): readonly ParamSpec[] {
  return [...own, ...params.filter(({ name }) => !own.some((param) => param.name === name))];
}

function argumentProblems({ command = [], args = [] }: Step, path: string, world: StepWorld, report: Report) {
  const argv = [...command, ...args];
  const code = codeArguments(argv);
  for (const [at, text] of argv.entries()) {
    const where = at < command.length ? `${path}.command[${at}]` : `${path}.args[${at - command.length}]`;
    if (code.includes(at)) codeProblems(text, where, world, report);
    else if (at === 0 && command.length > 0 && hasOutsideText(text)) {
      report(where, "the program to run cannot come from a parameter");
    } else plainTextProblems(text, where, world, report);
    secretProblems(text, where, report);
  }
}

/** The arguments of a process are there for everybody on the machine to read. */
function secretProblems(text: string, path: string, report: Report) {
  for (const { variable, text: written } of mentionsIn(text)) {
    if (variable?.kind !== "param" || !isSecretName(variable.name)) continue;
    report(path, `${written} would be seen in the list of processes. Give it to the step in env`);
  }
}

/**
 * In text that an interpreter reads as code no parameter is replaced: Tekton would put it in as it is, and a value such
 * as `; rm -rf /` would be run. What is left are paths and names that we made ourselves.
 */
function codeProblems(text: string, path: string, world: StepWorld, report: Report) {
  for (const mention of mentionsIn(text)) {
    const { variable } = mention;
    if (variable?.kind === "result-path") ownResult(variable.name, path, world, report);
    else if (variable?.kind === "param" || variable?.kind === "result") {
      const advice = `Add "env: [{name: VALUE, value: ${mention.text}}]" to the step and write "$VALUE" in its place`;
      report(path, `${mention.text} cannot be used in code: a value could be run as a command. ${advice}`);
    } else if (variable?.kind !== "context") cannotStandHere(mention, path, report);
  }
}

/** What may stand in arguments and variables, which nobody reads as code. */
function plainTextProblems(text: string, path: string, world: StepWorld, report: Report) {
  const list = wholeList(text) !== undefined && /\.(args|command)\[/.test(path);
  for (const mention of mentionsIn(text)) {
    const { variable } = mention;
    if (variable?.kind === "param") paramProblems(variable, path, { params: world.params, list }, report);
    else if (variable?.kind === "result-path") ownResult(variable.name, path, world, report);
    else if (variable?.kind === "result") report(path, `${mention.text} has to reach the task as one of its params`);
    else if (variable?.kind !== "context") cannotStandHere(mention, path, report);
  }
}

function ownResult(name: string, path: string, { taskSpec }: StepWorld, report: Report) {
  if (!taskSpec.results?.some((result) => result.name === name)) {
    report(path, `the task declares no result ${JSON.stringify(name)}`);
  }
}

function hasOutsideText(text: string): boolean {
  return mentionsIn(text).some(({ variable }) => variable?.kind === "param" || variable?.kind === "result");
}
