import { writeFile } from "node:fs/promises";
import { CoordinationError, fenceAnnotation, fenceOf } from "../coordination/index.ts";
import { type Call, type KubeClient, KubeError, type KubeObject, refOf } from "../kube/index.ts";
import { type Clock, sleep } from "../time/index.ts";
import type { Action, ActionInputs, Decision, Reader, Write } from "./action.ts";
import { type IssueTracker, IssueTrackerError } from "./issues/issue-tracker.ts";
import { missingRights } from "./missing-rights.ts";
import { annotate } from "./target-object.ts";

export interface ActionDeps {
  readonly client: KubeClient;
  readonly issues: IssueTracker;
  readonly clock: Clock;
  /** Prints one line of progress. */
  readonly print: (line: string) => void;
  readonly signal?: AbortSignal;
  /** Between two looks at the cluster. Default 2 seconds. */
  readonly pollMs?: number;
}

export interface ActionOutcome {
  readonly kind: "succeeded" | "failed";
  readonly message: string;
}

/**
 * Runs an action: look, decide, write, until it is verified, refused or out of time. Writes nothing without all rights,
 * nothing in a dry run, and nothing when a later run has written to the target. Safe to repeat after a crash at any point.
 */
export async function runAction(
  action: Action,
  inputs: Omit<ActionInputs, "nowMs">,
  deps: ActionDeps,
): Promise<ActionOutcome> {
  const { clock, signal, pollMs = 2_000 } = deps;
  const call = signal ? { signal } : {};
  const deadline = clock.now() + Number(inputs.parameters["waitSeconds"]) * 1_000;
  const printChange = onChange(deps.print);
  let hasRights = false;
  const step = async (): Promise<StepResult> => {
    if (!hasRights) {
      const missing = await missingRights(deps.client, action.rights, inputs.target, call);
      if (missing.length > 0) return failedOutcome(`missing rights: ${missing.join("; ")}`);
      hasRights = true;
    }
    return await lookAndWrite(action, inputs, deps, call);
  };
  try {
    for (;;) {
      const result = await step().catch(retryTransient);
      if (result.kind !== "again") return result;
      printChange(result.message);
      if (clock.now() >= deadline)
        return failedOutcome(`not done within ${inputs.parameters["waitSeconds"]} s: ${result.message}`);
      if (!result.atOnce) await sleep(clock, pollMs, signal);
    }
  } catch (error) {
    if (signal?.aborted) return failedOutcome("stopped before it was done");
    // The message of a refused request names verb, resource and namespace.
    const isExpected =
      error instanceof KubeError || error instanceof CoordinationError || error instanceof IssueTrackerError;
    if (isExpected) return failedOutcome(error.message);
    throw error;
  }
}

/** `again`: not finished. The next step follows at once if this one wrote something, and after a delay otherwise. */
type StepResult = ActionOutcome | { readonly kind: "again"; readonly message: string; readonly atOnce?: true };

async function lookAndWrite(
  action: Action,
  inputs: Omit<ActionInputs, "nowMs">,
  deps: ActionDeps,
  call: Call,
): Promise<StepResult> {
  const nowMs = deps.client.serverNowMs();
  const { target, decision } = await action.look({ ...inputs, nowMs }, toReader(deps, call));
  const stale = target && staleness(target, inputs.fence);
  if (stale) return failedOutcome(stale);
  return await execute(decision, inputs, deps, call);
}

/** Repeats the step after a transient error. A write may have happened or not; the next look shows it. */
function retryTransient(error: unknown): StepResult {
  if (isTransient(error)) return { kind: "again", message: error.message };
  throw error;
}

function isTransient(error: unknown): error is Error {
  if (error instanceof IssueTrackerError) return error.isTransient;
  return error instanceof KubeError && error.code === "unavailable";
}

async function execute(
  decision: Decision,
  { fence, parameters }: Omit<ActionInputs, "nowMs">,
  deps: ActionDeps,
  call: Call,
): Promise<StepResult> {
  switch (decision.kind) {
    case "done":
      return { kind: "succeeded", message: decision.message };
    case "refuse":
      return failedOutcome(decision.message);
    case "wait":
      return { kind: "again", message: decision.message };
    case "write": {
      if (parameters["dryRun"] === true) {
        for (const { text } of decision.writes) deps.print(`would ${text}`);
        return { kind: "succeeded", message: "dry run: nothing was written" };
      }
      return await writeAll(decision.writes, { ...deps, fence, call });
    }
  }
}

interface WriteDeps extends ActionDeps {
  readonly fence: bigint;
  readonly call: Call;
}

async function writeAll(writes: readonly Write[], deps: WriteDeps): Promise<StepResult> {
  let delayed: string | undefined;
  for (const write of writes) {
    const stale = "observed" in write ? staleness(write.observed, deps.fence) : undefined;
    if (stale) return failedOutcome(stale);
    const outcome = await perform(write, deps);
    if (outcome.kind === "written") deps.print(write.text);
    if (outcome.kind === "changed") return { kind: "again", message: `${write.text}: changed meanwhile` };
    if (outcome.kind === "blocked") delayed ??= `${write.text}: ${outcome.message}`;
  }
  return delayed === undefined ? { kind: "again", message: "", atOnce: true } : { kind: "again", message: delayed };
}

type WriteResult =
  | { readonly kind: "written" }
  /** Another client changed or removed the object since it was observed. */
  | { readonly kind: "changed" }
  /** A disruption budget does not allow it now. */
  | { readonly kind: "blocked"; readonly message: string };

async function perform(write: Write, { client, issues, fence, call }: WriteDeps): Promise<WriteResult> {
  switch (write.do) {
    case "update": {
      const { uid, resourceVersion } = write.observed.metadata;
      const { metadata } = write.next;
      const next = {
        ...write.next,
        metadata: { ...withFence(metadata, fence), uid, resourceVersion } as typeof metadata,
      };
      const { kind } = await client.update(write.type, next, call);
      return { kind: kind === "updated" ? "written" : "changed" };
    }
    case "create": {
      const object = { ...write.object, metadata: withFence(write.object.metadata, fence) };
      const { kind } = await client.create(write.type, object, call);
      return { kind: kind === "created" ? "written" : "changed" };
    }
    case "delete": {
      const { uid = "", resourceVersion = "" } = write.observed.metadata;
      const options = {
        preconditions: { uid, resourceVersion },
        propagation: "Background",
        ...(write.force && { gracePeriodSeconds: 0 }),
      } as const;
      const { kind } = await client.delete(write.type, refOf(write.observed), options, call);
      return { kind: kind === "deleted" ? "written" : "changed" };
    }
    case "evict": {
      const { uid = "" } = write.observed.metadata;
      const outcome = await client.evict(refOf(write.observed), { uid }, call);
      if (outcome.kind === "blocked") return outcome;
      return { kind: outcome.kind === "evicted" ? "written" : "changed" };
    }
    case "open-issue":
      await issues.open(write.project, write.draft, call.signal);
      return { kind: "written" };
  }
}

function withFence(metadata: KubeObject["metadata"], fence: bigint): KubeObject["metadata"] {
  return annotate(metadata, { [fenceAnnotation]: String(fence) });
}

/** Why this run must not write to an object: a later run already has. */
function staleness(object: KubeObject, fence: bigint): string | undefined {
  const latest = fenceOf(object);
  if (latest === undefined || latest <= fence) return undefined;
  return `${object.kind ?? "object"} ${object.metadata.name} was written by a later run (fence ${latest}, ours is ${fence})`;
}

function toReader({ client, issues }: ActionDeps, call: Call): Reader {
  return {
    get: (type, ref) => client.get(type, ref, call),
    list: (type, query) => client.list(type, query, call),
    findIssue: (project, marker) => issues.find(project, marker, call.signal),
  };
}

function failedOutcome(message: string): ActionOutcome {
  return { kind: "failed", message };
}

/** Prints a message when it differs from the one before. */
function onChange(print: (line: string) => void): (message: string) => void {
  let last = "";
  return (message) => {
    if (message === last) return;
    last = message;
    if (message !== "") print(message);
  };
}

/** The kubelet copies this file into the status of the pod, from which the executor reads why a Job failed. */
const terminationLog = "/dev/termination-log";

/** The maximum that the kubelet keeps. */
const maxBytes = 4_096;

/** Writes the reason of a failure to the termination log. Does nothing outside of a pod, where the file does not exist. */
export async function leaveReason(reason: string, file = terminationLog): Promise<void> {
  const text = Buffer.from(reason).subarray(0, maxBytes);
  // r+ creates no file. The reason is in the output, too, so an error here must not replace the failure itself.
  await writeFile(file, text, { flag: "r+" }).catch(() => {});
}
