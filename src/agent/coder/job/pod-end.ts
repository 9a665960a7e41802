import { type Pod, type RunFailure, wasEvicted } from "../../../engines/index.ts";
import type { CoderFailure } from "../coder.ts";
import type { CoderJobSettings } from "./coder-job.ts";

type PodLimits = Pick<CoderJobSettings, "timeoutMs" | "resources">;

export interface PodEnd {
  readonly reason: CoderFailure;
  /** Completes a sentence that begins with "The coder" or "The Job". */
  readonly message: string;
}

/**
 * Returns why the coder got a SIGKILL, which the exit code alone does not show. The node reports a lack of memory, and
 * the running time shows our own limit; otherwise another process sent the signal.
 */
export function explainKill(pod: Pod | undefined, limits: PodLimits): PodEnd {
  const { reason, startedAt = "", finishedAt = "" } = listContainers(pod).find(isCoder)?.state?.terminated ?? {};
  if (reason === "OOMKilled") return outOfMemory(limits);
  const { memory } = limits.resources;
  const [seconds, ranSeconds] = [limits.timeoutMs / 1_000, (Date.parse(finishedAt) - Date.parse(startedAt)) / 1_000];
  // Both times are whole seconds, rounded down, so a run that reached its limit is never measured as shorter.
  if (ranSeconds >= Math.ceil(seconds)) {
    return { reason: "Timeout", message: `was stopped: it did not finish within ${seconds} s, see agent.timeout` };
  }
  if (Number.isNaN(ranSeconds)) {
    const doubt = `for its memory (agent.jobMemory, ${memory}), its time (agent.timeout, ${seconds} s) or by another process`;
    return { reason: "Killed", message: `was killed, and its pod no longer shows whether ${doubt}` };
  }
  const notUs = `within its time limit (agent.timeout, ${seconds} s) and its memory limit (agent.jobMemory, ${memory})`;
  const who = "one of its own commands may have sent the signal, or a node that is short of memory";
  return { reason: "Killed", message: `was killed by a SIGKILL after ${ranSeconds} s: ${notUs}; ${who}` };
}

/** Returns why the whole Job failed, by the containers of its pod. */
export function explainFailure(pod: Pod | undefined, failure: RunFailure, limits: PodLimits): PodEnd {
  const failed = listContainers(pod).find(({ state }) => state?.terminated?.exitCode !== 0);
  const { waiting, terminated } = failed?.state ?? {};
  if (failed && isCoder(failed) && terminated?.reason === "OOMKilled") return outOfMemory(limits);
  if (pod && wasEvicted(pod)) {
    return {
      reason: "Killed",
      message: `was evicted from its node: ${pod.status?.message ?? "the node gave no reason"}`,
    };
  }
  if (failure.reason === "Timeout") {
    const what = failed && `while ${failed.name} ${waiting ? `waited (${waiting.reason})` : "was running"}`;
    const allowed = `longer than agent.timeout, ${limits.timeoutMs / 1_000} s, and the time to fetch and collect`;
    return { reason: "Timeout", message: `took ${allowed}, and was stopped ${what ?? "by its deadline"}` };
  }
  if (!failed || !terminated) return { reason: "ExitCode", message: `failed: ${failure.message}` };
  const because = [terminated.reason, terminated.message].filter(Boolean).join(", ") || "no reason given";
  const message = `failed: its container ${failed.name} exited with code ${terminated.exitCode} (${because})`;
  return { reason: terminated.exitCode === 137 ? "Killed" : "ExitCode", message };
}

function outOfMemory({ resources }: PodLimits): PodEnd {
  const used = `used more memory than agent.jobMemory, ${resources.memory}, and was killed`;
  return { reason: "OOMKilled", message: `${used}: raise the limit, or ask for less at once` };
}

/** In the order in which they run. */
function listContainers(pod: Pod | undefined) {
  return [...(pod?.status?.initContainerStatuses ?? []), ...(pod?.status?.containerStatuses ?? [])];
}

function isCoder({ name }: { readonly name: string }): boolean {
  return name === "coder";
}
