import { type Pod, type RunFailure, wasEvicted } from "../../../engines/index.ts";
import type { CoderFailure } from "../coder.ts";

/** What a coding agent in a Job may take. */
export interface PodLimits {
  readonly timeoutMs: number;
  readonly memory: string;
}

export interface PodEnd {
  readonly reason: CoderFailure;
  /** A sentence for people that goes on after "The coding agent" or "The Job". */
  readonly message: string;
}

/**
 * Why the coding agent got a SIGKILL, which is all that its exit code tells. The node knows of memory, and our own time
 * limit is known by how long it ran; whatever else it was is somebody else's.
 */
export function whyKilled(pod: Pod | undefined, limits: PodLimits): PodEnd {
  const { reason, startedAt = "", finishedAt = "" } = containersOf(pod).find(isAgent)?.state?.terminated ?? {};
  if (reason === "OOMKilled") return outOfMemory(limits);
  const { memory } = limits;
  const [seconds, ranSeconds] = [limits.timeoutMs / 1_000, (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000];
  // Both times are whole seconds, cut off: who had its time is not seen to have had less.
  if (ranSeconds >= Math.ceil(seconds)) {
    return { reason: "Timeout", message: `was ended: it was not done within ${seconds} s, see agent.timeout` };
  }
  if (Number.isNaN(ranSeconds)) {
    const doubt = `for its memory (agent.jobMemory, ${memory}), its time (agent.timeout, ${seconds} s) or by another process`;
    return { reason: "Killed", message: `was killed, and its pod cannot tell any more whether ${doubt}` };
  }
  const notUs = `before its time (agent.timeout, ${seconds} s) was up, and not for more memory than agent.jobMemory, ${memory}`;
  const who = "a command of its own may have done that, or its node, if that is short of memory";
  return { reason: "Killed", message: `was killed by a SIGKILL after ${ranSeconds} s: ${notUs}; ${who}` };
}

/** Why the whole Job failed, with what its pod tells about the containers of ours and of the agent. */
export function whyFailed(pod: Pod | undefined, failure: RunFailure, limits: PodLimits): PodEnd {
  const failed = containersOf(pod).find(({ state }) => state?.terminated?.exitCode !== 0);
  const { waiting, terminated } = failed?.state ?? {};
  if (failed && isAgent(failed) && terminated?.reason === "OOMKilled") return outOfMemory(limits);
  if (pod && wasEvicted(pod)) {
    return { reason: "Killed", message: `was put off its node: ${pod.status?.message ?? "the node gave no reason"}` };
  }
  if (failure.reason === "Timeout") {
    const what = failed && `while ${failed.name} ${waiting ? `waited (${waiting.reason})` : "was at work"}`;
    const allowed = `longer than agent.timeout, ${limits.timeoutMs / 1_000} s, and what it takes to fetch and collect`;
    return { reason: "Timeout", message: `took ${allowed}, and was ended ${what ?? "by its deadline"}` };
  }
  if (!failed || !terminated) return { reason: "ExitCode", message: `failed: ${failure.message}` };
  const because = [terminated.reason, terminated.message].filter(Boolean).join(", ") || "no reason given";
  const message = `failed: its container ${failed.name} ended with code ${terminated.exitCode} (${because})`;
  return { reason: terminated.exitCode === 137 ? "Killed" : "ExitCode", message };
}

function outOfMemory({ memory }: PodLimits): PodEnd {
  const fix = "give it more, or ask for less at once";
  return { reason: "OOMKilled", message: `used more memory than agent.jobMemory, ${memory}, and was killed: ${fix}` };
}

/** In the order in which they run. */
function containersOf(pod: Pod | undefined) {
  return [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])];
}

function isAgent({ name }: { readonly name: string }): boolean {
  return name === "agent";
}
