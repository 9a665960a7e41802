import {
  type ActionRequest,
  type AskingIncident,
  type Decision,
  decide,
  lastingPauses,
  workflowRules,
} from "../policy/index.ts";
import {
  automationPauses,
  currentEntry,
  type Kinds,
  type ObjectTarget,
  parseTarget,
  remediationTargets,
  remediationWorkflows,
  targetHash,
} from "../resources/index.ts";
import { CommandError, type Desk } from "./command.ts";

/** One workflow on one target, asked about now. */
export interface Answer {
  readonly request: ActionRequest;
  readonly decision: Decision;
}

export interface Question {
  readonly target: ObjectTarget;
  /** Each that is in the catalog, unless named. */
  readonly workflow?: string | undefined;
  /** The incident for which it is asked. */
  readonly incident?: AskingIncident;
  /** The execution that asks. */
  readonly executionUid?: string;
}

/** What the policy says now, from what the API server says now. */
export async function askPolicy(
  { target, workflow, ...asker }: Question,
  kinds: Kinds,
  { client, settings, recordsIn }: Desk,
): Promise<readonly Answer[]> {
  const nowMs = client.serverNowMs();
  const record = await client.get(remediationTargets, { namespace: recordsIn, name: targetHash(target) });
  const { items: pauses } = await client.list(automationPauses);
  const { items: entries } = await client.list(remediationWorkflows);
  const ids = workflow === undefined ? [...new Set(entries.map(({ spec }) => spec.workflowId))].sort() : [workflow];
  if (ids.length === 0) throw new CommandError("the catalog is empty: nothing could act on anything");

  return ids.map((workflowId) => {
    const entry = currentEntry(entries.filter(({ spec }) => spec.workflowId === workflowId));
    const request = {
      target: target.text,
      workflowId,
      ...(target.namespace === undefined ? {} : { namespace: target.namespace }),
      ...asker,
    };
    const situation = {
      record: record?.status,
      workflow: entry && workflowRules(entry),
      pauses: lastingPauses(pauses, nowMs, kinds),
      settings,
      nowMs,
    };
    return { request, decision: decide(request, situation) };
  });
}

/** The target that a text means, for people who type it. */
export function readObjectTarget(text: string, kinds: Kinds): ObjectTarget {
  const read = parseTarget(text, kinds);
  if (read.kind === "problem") throw new CommandError(`the target "${text}" ${read.problem}`);
  if (read.target.type === "object") return read.target;
  throw new CommandError(`the target "${text}" is a repository: workflows run on Kubernetes objects`);
}
