import {
  type ActionRequest,
  type AskingIncident,
  decide,
  diagnosedWorkflow,
  lastingPauses,
  type PolicyDecision,
  workflowRules,
} from "../policy/index.ts";
import {
  automationPauses,
  catalogDifference,
  type Diagnosis,
  type Kinds,
  lookUpEntry,
  type ObjectTarget,
  parseTarget,
  type RemediationWorkflow,
  remediationTargets,
  remediationWorkflows,
  targetHash,
  type WorkflowRef,
} from "../resources/index.ts";
import { CommandError, type Desk } from "./command.ts";

/** One workflow on one target, asked about now. */
export interface PolicyReport {
  readonly request: ActionRequest;
  readonly decision: PolicyDecision;
}

export interface PolicyQuestion {
  readonly target: ObjectTarget;
  /** Each that is in the catalog, unless named. */
  readonly workflow?: string | undefined;
  /** The incident for which it is asked. */
  readonly incident?: AskingIncident;
  /** The execution that asks. */
  readonly executionUid?: string;
  /** The workflow as that execution describes it. */
  readonly workflowRef?: WorkflowRef;
  /** The parameters that a rule gives: with them it is also asked whether the rule can be carried out at all. */
  readonly parameters?: Diagnosis["parameters"];
}

/** What the policy says now, from what the API server says now. */
export async function askPolicy(
  { target, workflow, workflowRef, parameters, ...asker }: PolicyQuestion,
  kinds: Kinds,
  { client, settings, recordsIn, catalogIn, catalogDefaults }: Desk,
): Promise<readonly PolicyReport[]> {
  const nowMs = client.serverNowMs();
  const record = await client.get(remediationTargets, { namespace: recordsIn, name: targetHash(target) });
  const { items: pauses } = await client.list(automationPauses);
  const { items: entries } = await client.list(remediationWorkflows, { namespace: catalogIn });
  const ids = workflow === undefined ? [...new Set(entries.map(({ spec }) => spec.workflowId))].sort() : [workflow];
  if (ids.length === 0) throw new CommandError("the catalog is empty: nothing could act on anything");

  return ids.map((workflowId) => {
    const known = entries.filter(({ spec }) => spec.workflowId === workflowId);
    const request = {
      target: target.text,
      workflowId,
      ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
      ...asker,
    };
    const situation = {
      record: record?.status,
      workflow: parameters
        ? diagnosedWorkflow({ target: target.text, parameters }, lookUpEntry(known, { workflowId }, kinds), {
            kinds,
            settings,
          })
        : workflowIn(known, { workflowRef: workflowRef ?? { workflowId }, kinds, defaults: catalogDefaults }),
      pauses: lastingPauses(pauses, nowMs, kinds),
      settings,
      nowMs,
    };
    return { request, decision: decide(request, situation) };
  });
}

interface Asked {
  readonly workflowRef: Pick<WorkflowRef, "workflowId"> & Partial<WorkflowRef>;
  readonly kinds: Kinds;
  readonly defaults: Desk["catalogDefaults"];
}

/** What the catalog says about a workflow, and about the execution that asks for it. */
function workflowIn(entries: readonly RemediationWorkflow[], { workflowRef, kinds, defaults }: Asked) {
  const found = lookUpEntry(entries, workflowRef, kinds);
  if (found.kind === "unknown") return defaults.allowOutsideCatalog ? { outsideCatalog: true } : undefined;
  if (found.kind === "unusable") return { difference: found.problem };
  const difference = catalogDifference(workflowRef, found.entry, defaults);
  return { ...workflowRules(found.entry), ...(difference === undefined ? {} : { difference }) };
}

/** The target that a text means, for people who type it. */
export function readObjectTarget(text: string, kinds: Kinds): ObjectTarget {
  const read = parseTarget(text, kinds);
  if (read.kind === "problem") throw new CommandError(`the target "${text}" ${read.problem}`);
  if (read.target.type === "object") return read.target;
  throw new CommandError(`the target "${text}" is a repository: workflows run on Kubernetes objects`);
}
