import { describe, expect, it } from "vitest";
import { classifyFailure } from "../../resources/index.ts";
import type { ContainerStatus, Pod } from "../pods.ts";
import { jobFailure } from "./failure.ts";
import type { Job } from "./job.ts";

const at = "2026-11-15T06:00:00Z";
const ran = { imageID: "image@sha256:1", containerID: "containerd://1" };

describe("why a Job failed", () => {
  it.each<[string, string, string, boolean, Pod | undefined]>([
    ["TaskRunFailed 3", "an exit code", "BackoffLimitExceeded", true, pod({ ...ran, state: exited(3, "Error") })],
    [
      "OOMKilled 137",
      "too much memory",
      "BackoffLimitExceeded",
      true,
      pod({ ...ran, state: exited(137, "OOMKilled") }),
    ],
    ["TaskRunFailed 137", "a kill", "BackoffLimitExceeded", true, pod({ ...ran, state: exited(137, "Error") })],
    [
      "Evicted 137",
      "a node that ran short",
      "BackoffLimitExceeded",
      true,
      pod({ ...ran, state: exited(137, "Error") }, { reason: "Evicted" }),
    ],
    ["Evicted -", "a drained node, as far as the Job shows", "PodFailurePolicy", true, undefined],
    [
      "ImagePullFailed -",
      "an image that does not come",
      "DeadlineExceeded",
      false,
      pod({ imageID: "", state: { waiting: { reason: "ImagePullBackOff" } } }, { phase: "Pending" }),
    ],
    [
      "Timeout -",
      "its pod's deadline, with no container ever made",
      "BackoffLimitExceeded",
      false,
      pod({ imageID: "", state: exited(137, "ContainerStatusUnknown") }, { reason: "DeadlineExceeded" }),
    ],
    [
      "Timeout 137",
      "its pod's deadline, at work",
      "BackoffLimitExceeded",
      true,
      pod({ ...ran, state: exited(137, "Error") }, { reason: "DeadlineExceeded" }),
    ],
    [
      "ConfigurationError -",
      "a secret that is missing",
      "DeadlineExceeded",
      false,
      pod({ state: { waiting: { reason: "CreateContainerConfigError" } } }, { phase: "Pending" }),
    ],
    [
      "ConfigurationError 128",
      "a command that is not there",
      "BackoffLimitExceeded",
      false,
      pod({ ...ran, state: exited(128, "StartError") }),
    ],
    ["Timeout -", "a deadline, its pod gone", "DeadlineExceeded", true, undefined],
    ["Unknown -", "something new", "SomethingNew", true, undefined],
  ])("is %s for %s", (expected, _what, reason, wasExecutionFailure, found) => {
    const failure = jobFailure(job({ failed: 1 }, reason), found ? [found] : []);

    const classified = classifyFailure(failure.reason, failure);
    expect(`${classified.reason} ${failure.exitCode ?? "-"}`).toBe(expected);
    expect(classified.wasExecutionFailure).toBe(wasExecutionFailure);
  });

  it("reports that nothing started if it never had a pod", () => {
    expect(jobFailure(job({}, "DeadlineExceeded"), []).anythingStarted).toBe(false);
  });

  it("is Cancelled after a cancellation, although its controller reports a deadline", () => {
    const metadata = { annotations: { "kubernaut.ai/cancelled": "true" } };
    const cancelled = { ...job({ failed: 1 }, "DeadlineExceeded"), metadata };

    expect(jobFailure(cancelled, [])).toMatchObject({ reason: "Cancelled", anythingStarted: true });
  });

  it("reports that nothing started if it was cancelled before its start", () => {
    const cancelled: Job = { metadata: {}, spec: job({}, "").spec, status: {} };

    expect(jobFailure(cancelled, []).anythingStarted).toBe(false);
  });

  it("counts as started if its failed pod no longer exists", () => {
    expect(jobFailure(job({ failed: 1 }, "BackoffLimitExceeded"), []).anythingStarted).toBe(true);
  });

  it("counts as started if more pods failed than still exist", () => {
    const neverStarted = pod({ imageID: "", state: { waiting: { reason: "ImagePullBackOff" } } }, { phase: "Pending" });
    const failed = (count: number) => job({ failed: count }, "DeadlineExceeded");

    expect(jobFailure(failed(1), [neverStarted]).anythingStarted).toBe(false);
    expect(jobFailure(failed(2), [neverStarted]).anythingStarted).toBe(true);
  });

  it("contains the termination message of the container up to a maximum length", () => {
    const left = (message: string) => {
      const state = { terminated: { exitCode: 1, reason: "Error", message } };
      return jobFailure(job({ failed: 1 }, "BackoffLimitExceeded"), [pod({ ...ran, state })]).message;
    };

    expect(left("missing rights: patch deployments\n")).toBe(
      "container workflow exited with code 1: missing rights: patch deployments",
    );
    expect(left("x".repeat(4_096)).length).toBeLessThan(600);
  });

  it.each(["ErrImagePull", "CreateContainerConfigError"])(
    "has the message of %s, not that of the deadline that ended its pod",
    (reason) => {
      const waiting = { reason, message: "the cause" };
      const deadline = "Pod was active on the node longer than the specified deadline";
      const ended = pod({ imageID: "", state: { waiting } }, { reason: "DeadlineExceeded", message: deadline });

      expect(jobFailure(job({ failed: 1 }, "BackoffLimitExceeded"), [ended]).message).toBe("the cause");
    },
  );

  it("has the message of the eviction, if its container was still waiting", () => {
    const waiting = { reason: "ErrImagePull", message: "the image" };
    const evicted = pod({ state: { waiting } }, { reason: "Evicted", message: "the node was low on memory" });

    expect(jobFailure(job({ failed: 1 }, "PodFailurePolicy"), [evicted]).message).toBe("the node was low on memory");
  });

  it("names pods that have not ended", () => {
    const alive = pod({ ...ran, state: { running: {} } }, { phase: "Running" });

    expect(jobFailure(job({ failed: 1 }, "DeadlineExceeded"), [alive]).unfinished).toEqual(["pod"]);
  });
});

function job(counts: object, reason: string): Job {
  const condition = { type: "Failed", status: "True", reason, message: "words", lastTransitionTime: at } as const;
  return {
    metadata: {},
    spec: { template: { spec: {} } } as Job["spec"],
    status: { startTime: at, conditions: [condition], ...counts },
  };
}

function pod(container: Partial<ContainerStatus>, status: Pod["status"] = {}): Pod {
  return {
    metadata: { name: "pod" },
    status: { phase: "Failed", containerStatuses: [{ name: "workflow", ...container }], ...status },
  };
}

function exited(exitCode: number, reason: string): NonNullable<ContainerStatus["state"]> {
  return { terminated: { exitCode, reason } };
}
