import { isDeepStrictEqual } from "node:util";
import { type Call, iso, type KubeClient, patchAtVersion, refOf } from "../../kube/index.ts";
import { type Condition, type Engine, type RemediationWorkflow, remediationWorkflows } from "../../resources/index.ts";
import { type PipelineReader, workflowPipelineProblems } from "../local/workflow-pipeline.ts";

export interface MarkOptions {
  /** The namespace of the catalog. */
  readonly namespace: string;
  /** Reads a pipeline in the folder of all workflows. */
  readonly readPipeline: PipelineReader;
  /** The engine of a workflow that names none. */
  readonly defaultEngine: Engine;
}

/**
 * Marks every entry of the local engine whose pipeline cannot be read as Invalid, so that its incidents are blocked with the
 * reason instead of failing repeatedly. An entry whose pipeline was corrected becomes Active again.
 */
export async function markUnreadable(
  client: KubeClient,
  { namespace, readPipeline, defaultEngine }: MarkOptions,
  call: Call = {},
): Promise<void> {
  const { items } = await client.list(remediationWorkflows, { namespace }, call);
  for (const entry of items) {
    if ((entry.spec.engine ?? defaultEngine) !== "local") continue;
    const found = await workflowPipelineProblems(readPipeline, entry.spec);
    const problems = found.map(({ file, problem }) => (file ? `${file}: ${problem}` : problem));
    const status = toStatus(entry, problems, iso(client.serverNowMs()));
    if (status === undefined) continue;
    const patch = patchAtVersion(entry, { status });
    // A conflict is ignored: this function is called again after each change of the files and of the catalog.
    await client.patch(remediationWorkflows, refOf(entry), patch, { ...call, subresource: "status" });
  }
}

/** Returns the status to write; undefined if nothing changes. An entry that another program marked as Invalid keeps its status. */
function toStatus({ status }: RemediationWorkflow, problems: readonly string[], at: string): object | undefined {
  const marked = status?.conditions?.some(({ type, status: is }) => type === conditionType && is === "False") ?? false;
  if (problems.length === 0) {
    return marked ? { catalogStatus: "Active", problems: null, conditions: [readable("True", "", at)] } : undefined;
  }
  if (marked ? isDeepStrictEqual(status?.problems, problems) : status?.catalogStatus === "Invalid") return undefined;
  return { catalogStatus: "Invalid", problems, conditions: [readable("False", problems.join("; "), at)] };
}

const conditionType = "PipelineReadable";

function readable(status: "True" | "False", message: string, lastTransitionTime: string): Condition {
  return { type: conditionType, status, reason: status === "True" ? "Read" : "Refused", message, lastTransitionTime };
}
