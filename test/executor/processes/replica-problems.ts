import type { LedgerEvent } from "../../../src/ledger/index.ts";
import { remediationTargets, type WorkflowExecution } from "../../../src/resources/index.ts";
import type { Stage } from "./stage.ts";
import { overlaps } from "./step-witness.ts";

/** One sentence for each thing that must not be, after many executions by many replicas. */
export async function replicaProblems(stage: Stage, executions: readonly WorkflowExecution[]) {
  const trails = await stage.ledger();
  const testimony = stage.witness.read();
  const reported = new Map<string, string>();
  for (const { reported: word, executionUid } of testimony) {
    reported.set(executionUid, `${reported.get(executionUid) ?? ""} ${word}`.trim());
  }
  const records = await stage.client.list(remediationTargets);
  const held = records.items.filter(({ status }) => status?.holder !== undefined);
  return [
    ...overlaps(testimony),
    ...executions.flatMap((execution) => wrongWork(execution, reported.get(execution.metadata.uid ?? "") ?? "")),
    ...executions.flatMap((execution) => wrongTrail(execution, trails.get(execution.metadata.uid ?? "") ?? [])),
    ...executions.flatMap((execution) => wrongSkip(execution, trails)),
    ...held.map(({ spec }) => `${spec.targetResource} is still held`),
    ...(await stage.ledgerProblems()).map((problem) => JSON.stringify(problem)),
  ];
}

/** Whatever ran did so once, from beginning to end; what was skipped did nothing. */
function wrongWork({ metadata, status }: WorkflowExecution, reported: string): readonly string[] {
  const wanted = status?.phase === "Skipped" ? "" : "start end";
  if (reported === wanted) return [];
  const why = status?.phase === "Failed" ? `, because ${status.failureDetails.message}` : "";
  return [`${metadata.name} is ${status?.phase}${why}, and its step reported: ${reported}`];
}

/**
 * A replica that read the record a moment earlier may skip an execution that another has just admitted: then the target
 * is given back, and nothing was started.
 */
const trailsByPhase: Readonly<Record<string, readonly string[]>> = {
  Completed: ["execution.admitted execution.completed execution.started run.created target.freed"],
  Failed: ["execution.admitted execution.failed execution.started run.created target.freed"],
  Skipped: [
    "execution.skipped",
    "execution.skipped target.freed",
    "execution.admitted execution.skipped target.freed",
    "execution.admitted execution.skipped run.created target.freed",
  ],
};

function wrongTrail({ metadata, status }: WorkflowExecution, trail: readonly LedgerEvent[]): readonly string[] {
  const types = trail
    .map(({ type }) => type)
    .sort()
    .join(" ");
  if (trailsByPhase[status?.phase ?? ""]?.includes(types)) return [];
  return [`${metadata.name} is ${status?.phase}, and the ledger tells: ${types}`];
}

/** A skip for a busy target happened while its holder held it, by the ledger's own times. */
export function wrongSkip(
  { metadata, status }: WorkflowExecution,
  trails: ReadonlyMap<string, readonly Pick<LedgerEvent, "type" | "at">[]>,
): readonly string[] {
  if (status?.phase !== "Skipped" || status.skipDetails.reason !== "ResourceBusy") return [];
  const { skippedAt, conflictingWorkflow } = status.skipDetails;
  const trail = trails.get(conflictingWorkflow.uid) ?? [];
  const at = (type: LedgerEvent["type"]) => trail.find((event) => event.type === type)?.at ?? "never";
  const [admitted, freed] = [at("execution.admitted"), at("target.freed")];
  // Times are all written alike, so their order is that of the texts.
  if (admitted <= skippedAt && skippedAt <= freed && freed !== "never") return [];
  return [`${metadata.name} was skipped at ${skippedAt}, but its holder held from ${admitted} to ${freed}`];
}
