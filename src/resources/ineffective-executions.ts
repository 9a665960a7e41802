import type { RemediationTarget } from "./kinds/remediation-target.ts";
import { annotationKeys } from "./names.ts";

/** Uids of the latest successes of the workflows that an orchestrator marked as ineffective on this target. */
export function ineffectiveExecutions(record: RemediationTarget | undefined): readonly string[] {
  const marks = record?.metadata.annotations?.[annotationKeys.ineffectiveExecutions] ?? "";
  return marks.split(",").filter((uid) => uid !== "");
}
