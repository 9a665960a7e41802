import { type AskingIncident, askPolicy, lastingPauses, type PolicyReport } from "../policy/index.ts";
import {
  automationPauses,
  type Diagnosis,
  type Kinds,
  lookUpEntry,
  type ObjectTarget,
  parseTarget,
  remediationTargets,
  remediationWorkflows,
  targetHash,
  targetKindProblem,
  type WorkflowRef,
} from "../resources/index.ts";
import type { OperateContext } from "./context.ts";
import { OperationError } from "./errors/index.ts";

interface PolicyQuery {
  readonly target: ObjectTarget;
  /** Every workflow in the catalog that is for the kind of the target, unless one is named. */
  readonly workflow?: string | undefined;
  readonly incident?: AskingIncident;
  /** The execution that asks. */
  readonly executionUid?: string;
  /** The workflow as that execution describes it. */
  readonly workflowRef?: WorkflowRef;
  /** The parameters that a rule gives: with them, the policy also checks whether the rule can be carried out at all. */
  readonly parameters?: Diagnosis["parameters"];
}

/** Evaluates the policy on the objects as the API server has them now. */
export async function queryPolicy(
  { target, workflow, workflowRef, parameters, ...asker }: PolicyQuery,
  kinds: Kinds,
  { client, settings, recordsIn, catalogIn, catalogDefaults: defaults }: OperateContext,
): Promise<readonly PolicyReport[]> {
  const nowMs = client.serverNowMs();
  const record = (await client.get(remediationTargets, { namespace: recordsIn, name: targetHash(target) }))?.status;
  const pauses = lastingPauses((await client.list(automationPauses)).items, nowMs, kinds);
  const { items: entries } = await client.list(remediationWorkflows, { namespace: catalogIn });
  const fitting = entries.filter(({ spec }) => targetKindProblem(spec, target, kinds) === undefined);
  const ids = workflow === undefined ? [...new Set(fitting.map(({ spec }) => spec.workflowId))].sort() : [workflow];
  if (ids.length === 0) {
    const missing = entries.length === 0 ? "no workflows" : `no workflow for a ${target.kind}`;
    throw new OperationError("not-found", `the catalog has ${missing}`, { hint: "see docs/workflows.md" });
  }

  return ids.map((workflowId) => {
    const known = entries.filter(({ spec }) => spec.workflowId === workflowId);
    const ref = workflowRef ?? { workflowId };
    const entry = lookUpEntry(known, parameters ? { workflowId } : ref, kinds);
    const usage = parameters
      ? { diagnosis: { parameters }, target: { kind: "target", target } as const }
      : { workflowRef: ref, defaults };
    const { text, namespace } = target;
    return askPolicy(
      { target: text, namespace, workflowId, ...asker, entry, usage },
      { record, pauses, kinds, settings, nowMs },
    );
  });
}

/** Parses a target that an operator typed. */
export function readObjectTarget(text: string, kinds: Kinds): ObjectTarget {
  const read = parseTarget(text, kinds);
  if (read.kind === "problem") throw new OperationError("invalid", `the target "${text}" ${read.problem}`);
  if (read.target.type === "object") return read.target;
  throw new OperationError("invalid", `the target "${text}" is a repository: workflows run on Kubernetes objects`);
}
