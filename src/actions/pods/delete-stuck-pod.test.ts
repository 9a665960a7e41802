import { describe, expect, it } from "vitest";
import { parseTarget } from "../../resources/index.ts";
import type { ActionInputs, Reader } from "../action.ts";
import { deleteStuckPod } from "./delete-stuck-pod.ts";
import type { ObservedPod } from "./pod.ts";

const nowMs = Date.parse("2026-11-15T12:00:00Z");

describe("a pod", () => {
  it.each<[string, string, Partial<ObservedPod>, Record<string, boolean>?]>([
    ["done", "ready", { status: ready("True", "11:00") }],
    ["done", "not ready for nine minutes", { status: ready("False", "11:51") }],
    ["write", "not ready for ten minutes", { status: ready("False", "11:50") }],
    ["done", "finished", { status: { phase: "Succeeded" } }],
    ["wait", "terminating for a minute", { metadata: deleted("11:59") }],
    ["refuse", "terminating for an hour", { metadata: deleted("11:00") }],
    ["write", "terminating for an hour, with force", { metadata: deleted("11:00") }, { force: true }],
    ["wait", "terminating for a minute, with force", { metadata: deleted("11:59") }, { force: true }],
  ])("leads to %s when it is %s", async (kind, _what, pod, parameters = {}) => {
    const metadata = { name: "a", namespace: "ns", creationTimestamp: time("10:00"), ownerReferences: [owner] };
    const found = { ...pod, metadata: { ...metadata, ...pod.metadata } };

    const { decision } = await deleteStuckPod.look(inputs(parameters), { get: async () => found } as unknown as Reader);

    expect(decision.kind).toBe(kind);
  });
});

const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "a", uid: "1", controller: true };

function ready(status: string, since: string): NonNullable<ObservedPod["status"]> {
  return { phase: "Running", conditions: [{ type: "Ready", status, lastTransitionTime: time(since) }] };
}

function deleted(at: string): ObservedPod["metadata"] {
  return { deletionTimestamp: time(at) };
}

function time(text: string): string {
  return `2026-11-15T${text}:00Z`;
}

function inputs(parameters: Record<string, boolean>): ActionInputs {
  const read = parseTarget("ns/pod/a");
  if (read.kind !== "target" || read.target.type !== "object") throw new TypeError("not an object");
  return { target: read.target, executionUid: "1", fence: 1n, nowMs, parameters: { minMinutes: 10, ...parameters } };
}
