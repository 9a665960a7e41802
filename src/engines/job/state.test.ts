import { describe, expect, it } from "vitest";
import type { Job, JobCondition } from "./job.ts";
import { cancelJob, jobState } from "./state.ts";

const at = "2026-11-15T06:00:00Z";
const marked = { annotations: { "kubernaut.ai/cancelled": "true" } };

describe("the state of a Job", () => {
  it.each<[string, string, Partial<Job["spec"]>, Job["status"], Job["metadata"]]>([
    ["suspended", "new", { suspend: true }, undefined, {}],
    ["running", "started, not yet seen", { suspend: false }, suspended(), {}],
    ["running", "at work", {}, { startTime: at, active: 1 }, {}],
    ["running", "suspended by another client", { suspend: true }, { startTime: at, ...suspended() }, {}],
    ["running", "failing while its pod still ends", {}, { ...holds("FailureTarget"), terminating: 1 }, {}],
    ["running", "cancelled at work", {}, { startTime: at, active: 1 }, marked],
    ["failed", "cancelled at work and ended", {}, { startTime: at, ...holds("Failed"), failed: 1 }, marked],
    ["failed", "cancelled before its start", { suspend: true }, suspended(), marked],
    [
      "failed",
      "cancelled before its controller saw it",
      { suspend: true },
      undefined,
      { ...marked, creationTimestamp: at },
    ],
    [
      "running",
      "cancelled when suspended, with a pod that ends",
      { suspend: true },
      { startTime: at, ...suspended(), terminating: 1 },
      marked,
    ],
    [
      "running",
      "cancelled when suspended, before its controller saw that",
      { suspend: true },
      { startTime: at },
      marked,
    ],
    ["failed", "cancelled when suspended, and at rest", { suspend: true }, { startTime: at, ...suspended() }, marked],
    ["succeeded", "complete", {}, { startTime: at, ...holds("Complete") }, {}],
    ["succeeded", "complete before the cancel came", {}, { startTime: at, ...holds("Complete") }, marked],
  ])("is %s when it is %s", (kind, _what, spec, status, metadata) => {
    expect(jobState(job(spec, status, metadata)).kind).toBe(kind);
  });
});

describe("cancelling a Job", () => {
  it("sets a deadline in the past for a running one", () => {
    expect(cancelJob(job({ suspend: false }))).toMatchObject({ merge: { spec: { activeDeadlineSeconds: 1 } } });
  });

  it("keeps a suspended one suspended", () => {
    expect(cancelJob(job({ suspend: true }))).not.toHaveProperty("merge.spec");
  });
});

function job(spec: Partial<Job["spec"]>, status?: Job["status"], metadata: Job["metadata"] = {}): Job {
  return { metadata, spec: spec as Job["spec"], ...(status && { status }) };
}

function suspended() {
  return holds("Suspended");
}

function holds(type: JobCondition["type"]) {
  return { conditions: [{ type, status: "True", lastTransitionTime: at } as const] };
}
