import type { AutomationPause, AutomationPauseSpec } from "../../resources/index.ts";
import { cutText } from "../../telemetry/index.ts";
import type { PauseRow } from "../wire.ts";
import { fitRow } from "./fit-row.ts";
import { field, rowBase } from "./row-base.ts";

export function toPauseRow(pause: AutomationPause): PauseRow {
  const { spec, status } = pause;
  return fitRow({
    kind: "pauses",
    ...rowBase(pause),
    scope: pauseScope(spec),
    author: spec.requestedBy,
    reason: cutText(spec.reason, 200),
    ...field("until", spec.until),
    ...field("endedAt", status?.endedAt),
    suppressed: 0,
  });
}

/** What a pause covers, as people read it. */
export function pauseScope(spec: AutomationPauseSpec): string {
  switch (spec.scope) {
    case "All":
      return "everything";
    case "Namespace":
      return `namespace ${spec.targetNamespace}`;
    case "Target":
      return `target ${spec.targetResource}`;
    case "Workflow":
      return `workflow ${spec.workflowId}`;
  }
}
