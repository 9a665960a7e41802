import { isCodeVariable } from "../../../resources/index.ts";
import { isSecretName } from "../../../telemetry/index.ts";
import { type Argument, findSubstitutions, toArgument } from "./command-line/argument.ts";
import { commandLineProblems } from "./command-line/command-line-problems.ts";
import type { CommandLineProblem } from "./command-line/verdict.ts";
import {
  type ParamSpec,
  type PipelineSpec,
  type PipelineTask,
  type Step,
  scriptInterpreter,
  stepName,
  type TaskSpec,
} from "./spec.ts";
import { paramProblems, type ReportProblem, reportMisplaced } from "./variable-problems.ts";
import { findMentions, wholeList } from "./variables.ts";

/** Set by the engine for every step. */
const reservedVariables: readonly string[] = ["TARGET_RESOURCE", "EXECUTION_UID", "FENCE", "WORKFLOW_DIR"];

interface TaskLocation {
  /** The path of the task. */
  readonly path: string;
  readonly pipeline: PipelineSpec;
}

/** Reports the problems of one step of a task. */
export function stepProblems(
  { taskSpec }: PipelineTask,
  index: number,
  place: TaskLocation,
  report: ReportProblem,
): void {
  const step = taskSpec.steps[index] as Step;
  const path = `${place.path}.taskSpec.steps[${index}]`;
  const others = taskSpec.steps.slice(0, index).map(stepName);
  if (others.includes(stepName(step, index))) report(`${path}.name`, "another step of this task has the same name");
  if (step.script !== undefined && step.command) report(path, "has a script and a command; keep one of them");
  if (step.script === undefined && !step.command) {
    report(path, "has neither script nor command; there is no image whose entrypoint could be run");
  }

  const scope = { taskSpec, params: visibleParams(taskSpec, place.pipeline) };
  if (step.script !== undefined) codeProblems(step.script, `${path}.script`, scope, report);
  argumentProblems(step, path, scope, report);
  workingDirProblems(step.workingDir ?? "", `${path}.workingDir`, scope, report);
  for (const [at, { name, value = "" }] of (step.env ?? []).entries()) {
    if (reservedVariables.includes(name)) report(`${path}.env[${at}].name`, `${name} is set by the engine`);
    if (isCodeVariable(name)) codeVariableProblems(name, value, `${path}.env[${at}].value`, report);
    plainTextProblems(value, `${path}.env[${at}].value`, scope, report);
  }
}

interface StepScope {
  readonly taskSpec: TaskSpec;
  readonly params: readonly ParamSpec[];
}

/** A task sees its own parameters, and those of the pipeline that it does not have itself. */
function visibleParams({ params: own = [] }: TaskSpec, { params = [] }: PipelineSpec): readonly ParamSpec[] {
  return [...own, ...params.filter(({ name }) => !own.some((param) => param.name === name))];
}

function argumentProblems(
  { script, command = [], args = [] }: Step,
  path: string,
  scope: StepScope,
  report: ReportProblem,
) {
  const own = [...command, ...args].map((text, index) => toArgument(text, { index }));
  const found = commandLineProblems([...scriptArguments(script), ...own]);
  const where = ({ index = 0 }: Argument) =>
    index < command.length ? `${path}.command[${index}]` : `${path}.args[${index - command.length}]`;
  for (const argument of own) {
    if (!found.some((problem) => problem.argument.index === argument.index)) {
      plainTextProblems(argument.text, where(argument), scope, report);
    }
    secretProblems(argument.text, where(argument), report);
  }
  for (const problem of found) {
    const at = problem.argument.index === undefined ? `${path}.script` : where(problem.argument);
    for (const sentence of describeProblem(problem)) report(at, sentence);
  }
}

/** Returns the arguments that the engine adds before those of a step with a script. */
function scriptArguments(script: string | undefined): readonly Argument[] {
  if (script === undefined) return [];
  return [...scriptInterpreter(script).map((text) => toArgument(text)), toArgument("/script", { content: script })];
}

/** Returns the problem and its fix: one sentence for each substitution, or one for a literal argument. */
function describeProblem(problem: CommandLineProblem): readonly string[] {
  const { argument } = problem;
  const written = findSubstitutions(argument.text);
  switch (problem.kind) {
    case "program":
      return ["the program to run cannot come from a parameter"];
    case "in-code":
      return written.map(({ text }) => inCode(text));
    case "may-be-option":
      return written.map(({ text }) => {
        const problemText = `${problem.program} would read ${text} as an option if its value began with a dash`;
        return `${text} cannot be used here: ${problemText}. ${problem.fix}, or use a script: ${viaEnv(text)}`;
      });
    case "not-allowed":
      return written.map(({ text }) => {
        const reason = `${problem.program} is not known to treat this argument as data`;
        return `${text} cannot be used here: ${reason}, so a value could be run as a command. Use a script: ${viaEnv(text)}`;
      });
    case "unparsed": {
      const what = `${JSON.stringify(argument.text)} cannot be parsed as an argument of ${problem.program}`;
      return [`${what}, so it is unknown which arguments are code. Use fewer options, or a script`];
    }
  }
}

function inCode(written: string): string {
  return `${written} cannot be used in code: a value could be run as a command. ${viaEnv(written)}`;
}

function viaEnv(written: string): string {
  return `Add "env: [{name: VALUE, value: ${written}}]" to the step and write "$VALUE" in its place`;
}

/** Reports substitutions: programs load code from their working directory, such as a script, a module or a configuration. */
function workingDirProblems(text: string, path: string, scope: StepScope, report: ReportProblem) {
  const written = findSubstitutions(text);
  if (written.length === 0) return plainTextProblems(text, path, scope, report);
  for (const { text: substitution } of written) {
    const fix = `Add "env: [{name: DIRECTORY, value: ${substitution}}]" to the step and write cd -- "$DIRECTORY" in its script`;
    report(path, `${substitution} cannot be used here: a program could load code from that directory. ${fix}`);
  }
}

function codeVariableProblems(name: string, value: string, path: string, report: ReportProblem) {
  for (const { text } of findSubstitutions(value)) {
    report(path, `${text} cannot be used in ${name}: programs read that variable as code. Use another name`);
  }
}

/** Every user of the machine can read the arguments of a process. */
function secretProblems(text: string, path: string, report: ReportProblem) {
  for (const { variable, text: written } of findMentions(text)) {
    if (variable?.kind !== "param" || !isSecretName(variable.name)) continue;
    report(path, `${written} would be visible in the list of processes. Pass it to the step in env`);
  }
}

/**
 * Checks code. Tekton substitutes a parameter unchanged, so a value such as `; rm -rf /` would be executed. Only paths and names
 * that Interlock made are allowed.
 */
function codeProblems(text: string, path: string, scope: StepScope, report: ReportProblem) {
  for (const mention of findMentions(text)) {
    const { variable } = mention;
    if (variable?.kind === "result-path") ownResult(variable.name, path, scope, report);
    else if (variable?.kind === "param" || variable?.kind === "result") {
      report(path, inCode(mention.text));
    } else if (variable?.kind !== "context") reportMisplaced(mention, path, report);
  }
}

/** Checks arguments and variables, which no program reads as code. */
function plainTextProblems(text: string, path: string, scope: StepScope, report: ReportProblem) {
  const list = wholeList(text) !== undefined && /\.(args|command)\[/.test(path);
  for (const mention of findMentions(text)) {
    const { variable } = mention;
    if (variable?.kind === "param") paramProblems(variable, path, { params: scope.params, list }, report);
    else if (variable?.kind === "result-path") ownResult(variable.name, path, scope, report);
    else if (variable?.kind === "result")
      report(path, `${mention.text} has to be passed to the task as one of its params`);
    else if (variable?.kind !== "context") reportMisplaced(mention, path, report);
  }
}

function ownResult(name: string, path: string, { taskSpec }: StepScope, report: ReportProblem) {
  if (!taskSpec.results?.some((result) => result.name === name)) {
    report(path, `the task declares no result ${JSON.stringify(name)}`);
  }
}
