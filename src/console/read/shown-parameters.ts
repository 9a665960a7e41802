import {
  type ParameterValue,
  type RemediationWorkflow,
  redactParameters,
  remediationWorkflows,
} from "../../resources/index.ts";
import type { ReadContext } from "./read-context.ts";

interface WorkflowReference {
  readonly workflowId: string;
  readonly version?: string | undefined;
  readonly containerImage?: string | undefined;
}

/** The catalog entry of that version of a workflow; without a version, the one with that image. */
export async function readEntry(
  { workflowId, version, containerImage }: WorkflowReference,
  { client, catalogIn }: Pick<ReadContext, "client" | "catalogIn">,
): Promise<RemediationWorkflow | undefined> {
  const { items } = await client.list(remediationWorkflows, { namespace: catalogIn });
  const entries = items.filter((entry) => entry.spec.workflowId === workflowId);
  if (version !== undefined) return entries.find((entry) => entry.spec.version === version);
  return entries.find((entry) => entry.spec.containerImage === containerImage);
}

/** Parameters as texts, with secrets redacted as in the ledger. Without an entry, every value is redacted. */
export function shownParameters(
  parameters: Readonly<Record<string, ParameterValue>>,
  entry: RemediationWorkflow | undefined,
): Readonly<Record<string, string>> {
  const toText = (value: ParameterValue) => (typeof value === "string" ? value : JSON.stringify(value));
  const shown = Object.entries(redactParameters(parameters, entry));
  return Object.fromEntries(shown.map(([name, value]) => [name, toText(value)]));
}
