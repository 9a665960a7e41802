import { readFile, realpath, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { type RemediationWorkflowSpec, reservedParameters } from "../../resources/index.ts";
import { readPipeline } from "./pipeline/read-pipeline.ts";
import { allTasks, type PipelineSpec } from "./pipeline/spec.ts";

/** The file in the folder of a workflow with its pipeline. */
const pipelineFile = "pipeline.yaml";

export type WorkflowPipeline =
  | { readonly kind: "read"; readonly pipeline: PipelineSpec; readonly file: string }
  | { readonly kind: "refused"; readonly problems: readonly PipelineProblem[] };

export interface PipelineProblem {
  /** The file with the problem, below the folder of all workflows; absent if there is no such file. */
  readonly file?: string;
  readonly problem: string;
}

/** Reads and checks the pipeline of the workflow whose folder below `root` is `name`. */
export async function readWorkflowPipeline(root: string, name: string): Promise<WorkflowPipeline> {
  const folderProblem = await findFolderProblem(root, name);
  if (folderProblem !== undefined) return { kind: "refused", problems: [{ problem: folderProblem }] };

  const file = join(name, pipelineFile);
  try {
    const reading = readPipeline(await readFile(join(root, file), "utf8"));
    if (reading.kind === "valid") return { kind: "read", pipeline: reading.pipeline, file };
    return { kind: "refused", problems: reading.problems.map((problem) => ({ file, problem })) };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    // These last until the file is replaced. A retry can succeed after any other error.
    if (!["ENOENT", "EISDIR", "EACCES"].includes(code)) throw error;
    const problem = code === "ENOENT" ? `there is no file ${file}` : `the file ${file} cannot be read (${code})`;
    return { kind: "refused", problems: [{ problem }] };
  }
}

/** Reads the pipeline in a folder below the one of all workflows. */
export type PipelineReader = (name: string) => Promise<WorkflowPipeline>;

/** Returns a reader that caches each pipeline below `root`. Use a new one after a change of the folder. */
export function pipelineReader(root: string): PipelineReader {
  const readings = new Map<string, Promise<WorkflowPipeline>>();
  return (name) => {
    const reading = readings.get(name) ?? readWorkflowPipeline(root, name);
    readings.set(name, reading);
    return reading;
  };
}

/** Finds the reasons why the pipeline of a workflow cannot be run with any parameters. */
export async function workflowPipelineProblems(
  readPipelineIn: PipelineReader,
  { containerImage, parameters }: Pick<RemediationWorkflowSpec, "containerImage" | "parameters">,
): Promise<readonly PipelineProblem[]> {
  const read = await readPipelineIn(containerImage);
  if (read.kind === "refused") return read.problems;
  const problems = findUnfitParams(read.pipeline, parameters ?? { properties: {} });
  return problems.map((problem) => ({ file: read.file, problem }));
}

/** Whether a pipeline runs a ready-made action, which needs an API server. */
export function runsAction(pipeline: PipelineSpec): boolean {
  return allTasks(pipeline).some(({ taskSpec }) =>
    taskSpec.steps.some(({ command = [], args = [] }) => {
      const [program, subcommand] = [...command, ...args];
      return program === "interlock" && subcommand === "action";
    }),
  );
}

/** Finds the parameters of a pipeline that can be missing in a run, or have another type. */
function findUnfitParams(
  { params = [] }: PipelineSpec,
  { properties = {}, required = [] }: NonNullable<RemediationWorkflowSpec["parameters"]>,
): readonly string[] {
  return params.flatMap(({ name, type = "string", default: standard }, index) => {
    const path = `spec.params[${index}]`;
    if ((reservedParameters as readonly string[]).includes(name)) return [];
    const declared = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!declared) {
      const fix = "give it a default, or declare it in workflow.yaml";
      return standard === undefined ? [`${path}: ${name} is missing; ${fix}`] : [];
    }
    if ((declared.type === "array") !== (type === "array")) {
      return [`${path}: ${name} has the type ${type}, but ${declared.type} in workflow.yaml`];
    }
    const isGiven = standard !== undefined || declared.default !== undefined || required.includes(name);
    return isGiven ? [] : [`${path}: ${name} may be missing; give it a default, or require it in workflow.yaml`];
  });
}

/** Returns why `name` is no folder right below `root`; undefined if it is one. A link must not lead out of `root`. */
async function findFolderProblem(root: string, name: string): Promise<string | undefined> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) {
    return `${JSON.stringify(name)} is not the name of a folder: write the name alone, without a path`;
  }
  try {
    const [base, path] = await Promise.all([realpath(root), realpath(join(root, name))]);
    if (relative(base, path) !== name) return `${join(root, name)} leads out of ${root} by a link`;
    return (await stat(path)).isDirectory() ? undefined : `${join(root, name)} is not a folder`;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return `there is no folder ${join(root, name)}`;
    throw error;
  }
}
