import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Engine, Kinds, RemediationWorkflow } from "../../resources/index.ts";
import { type PipelineReader, pipelineReader, workflowPipelineProblems } from "../local/workflow-pipeline.ts";
import { readWorkflowFile } from "./read-workflow-file.ts";

/** The workflows of a folder. A problem in one file does not exclude the others. */
export interface CatalogReading {
  readonly workflows: readonly RemediationWorkflow[];
  /** One sentence each, with file, line and path. */
  readonly problems: readonly string[];
}

interface CatalogOptions {
  /** The engine of a workflow that names none. */
  readonly defaultEngine?: Engine;
  readonly readPipeline?: PipelineReader;
}

/**
 * Reads the `workflow.yaml` of each folder right below `root`, in alphabetical order. A workflow of the local engine is
 * read with its pipeline, and not loaded if the pipeline cannot be run or would put a parameter into code.
 */
export async function readCatalog(
  root: string,
  kinds: Kinds,
  { defaultEngine, readPipeline = pipelineReader(root) }: CatalogOptions = {},
): Promise<CatalogReading> {
  const workflows: RemediationWorkflow[] = [];
  const problems: string[] = [];
  const files = new Map<string, string>();
  for (const folder of await listFolders(root)) {
    const path = join(root, folder, "workflow.yaml");
    const text = await readFile(path, "utf8").catch(({ code }: NodeJS.ErrnoException) => {
      if (code !== "ENOENT") problems.push(`${path}:1: cannot be read (${code})`);
      return undefined;
    });
    if (text === undefined) continue;
    const reading = readWorkflowFile({ path, text, folder }, kinds);
    if (reading.kind === "invalid") {
      problems.push(...reading.problems);
      continue;
    }
    const { metadata, spec } = reading.workflow;
    const before = files.get(metadata.name ?? "");
    if (before) {
      problems.push(`${path}:1: version ${spec.version} of ${spec.workflowId} is also in ${before}: keep one of them`);
      continue;
    }
    files.set(metadata.name ?? "", path);
    const isLocal = (spec.engine ?? defaultEngine) === "local";
    const found = isLocal ? await workflowPipelineProblems(readPipeline, spec) : [];
    const unusable = found.map(({ file, problem }) => `${file ? join(root, file) : `${path}:1`}: ${problem}`);
    if (unusable.length > 0) problems.push(...unusable);
    else workflows.push(reading.workflow);
  }
  return { workflows, problems };
}

async function listFolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
}
