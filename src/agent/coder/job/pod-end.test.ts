import { describe, expect, it } from "vitest";
import type { Pod, RunFailure } from "../../../engines/index.ts";
import { explainFailure, explainKill } from "./pod-end.ts";

const limits = { timeoutMs: 89_500, resources: { cpu: "1", memory: "3Gi" } };
const fetched = ended("fetch", 0);

describe("a coder that gets a SIGKILL", () => {
  it.each<[string, string, RegExp, Pod | undefined]>([
    [
      "OOMKilled",
      "its node reports it",
      /more memory than agent\.jobMemory, 3Gi/,
      pod([ended("coder", 0, "OOMKilled", 7)]),
    ],
    ["OOMKilled", "even when its time was up", /3Gi/, pod([fetched, ended("coder", 0, "OOMKilled", 90)])],
    [
      "Timeout",
      "it ran that long",
      /within 89\.5 s, see agent\.timeout/,
      pod([fetched, ended("coder", 0, "Completed", 90)]),
    ],
    ["Killed", "it ran shorter", /SIGKILL after 89 s/, pod([fetched, ended("coder", 0, "Completed", 89)])],
    ["Killed", "its pod is gone", /no longer shows.*agent\.jobMemory, 3Gi.*agent\.timeout, 89\.5 s/, undefined],
    ["Killed", "its node lost sight of it", /no longer shows/, pod([fetched, { name: "coder", state: {} }])],
  ])("ends as %s if %s", (reason, _why, message, pod) => {
    expect(explainKill(pod, limits)).toEqual({ reason, message: expect.stringMatching(message) });
  });
});

describe("a failed Job of a coder", () => {
  const put = { reason: "Evicted", message: "The node was low on resource: memory." };
  const late = { reason: "DeadlineExceeded" };
  const pulling = { name: "coder", state: { waiting: { reason: "ImagePullBackOff" } } };
  const working = { name: "coder", state: { running: {} } };

  it.each<[string, string, RegExp, RunFailure["reason"], Pod | undefined]>([
    [
      ...(["OOMKilled", "for the memory of the whole container", /3Gi/, "TaskRunFailed"] as const),
      pod([fetched, ended("coder", 137, "OOMKilled")]),
    ],
    [
      ...(["Killed", "with its node", /evicted from its node: The node was low/, "Evicted"] as const),
      pod([fetched, ended("coder", 137)], put),
    ],
    [
      ...(["Killed", "by another process", /container coder exited with code 137/, "TaskRunFailed"] as const),
      pod([fetched, ended("coder", 137)]),
    ],
    [
      ...(["Timeout", "by its deadline, at work", /89\.5 s.*while coder was running/, "Timeout"] as const),
      pod([fetched, ended("coder", 137)], late),
    ],
    [
      ...(["Timeout", "by its deadline, as seen before the end", /while coder was running/, "Timeout"] as const),
      pod([fetched, working], late),
    ],
    [
      ...(["Timeout", "for an image", /while coder waited \(ImagePullBackOff\)/, "Timeout"] as const),
      pod([fetched, pulling], late),
    ],
    ["Timeout", "by its deadline, its pod gone", /was stopped by its deadline/, "Timeout", undefined],
    [
      ...(["ExitCode", "when it fetched", /container fetch exited with code 1 \(Error\)/, "TaskRunFailed"] as const),
      pod([ended("fetch", 1), { name: "coder", state: { waiting: { reason: "PodInitializing" } } }]),
    ],
    ["ExitCode", "for an unknown reason", /failed: as the engine reports it/, "Unknown", undefined],
  ])("ends as %s %s", (reason, _why, message, engineReason, pod) => {
    const failure = { reason: engineReason, message: "as the engine reports it", anythingStarted: true };

    expect(explainFailure(pod, failure, limits)).toEqual({ reason, message: expect.stringMatching(message) });
  });
});

type Status = NonNullable<Pod["status"]>;
type Container = NonNullable<Status["initContainerStatuses"]>[number];

function pod(initContainerStatuses: readonly Container[], status: Partial<Status> = {}): Pod {
  return { apiVersion: "v1", kind: "Pod", metadata: {}, status: { initContainerStatuses, ...status } };
}

function ended(
  name: string,
  exitCode: number,
  reason = exitCode === 0 ? "Completed" : "Error",
  seconds = 1,
): Container {
  const startedAt = "2026-11-15T06:00:00Z";
  const finishedAt = new Date(Date.parse(startedAt) + seconds * 1_000).toISOString();
  return { name, state: { terminated: { exitCode, reason, startedAt, finishedAt } } };
}
