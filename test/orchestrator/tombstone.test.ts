import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { annotationKeys, type RemediationRequest, remediationRequests } from "../../src/resources/index.ts";
import { minute, OrchestratorWorld } from "./orchestrator-world.ts";

const namespace = "kubernaut-system";
const texts = {
  signalLabels: { node: "worker-1", text: "x".repeat(2_000) },
  signalAnnotations: { summary: "x".repeat(2_000) },
  originalPayload: "x".repeat(16_000),
};
const series = Object.fromEntries(
  Array.from({ length: 64 }, (_, i) => [`series-${i}`, { firingAt: "2026-01-01T00:00:00.000Z" }]),
);

describe("the newest closed incident of a fingerprint", () => {
  let world: OrchestratorWorld;
  beforeEach(async () => {
    world = await OrchestratorWorld.open();
    await world.executor();
  });
  afterEach(() => world.close());

  it("becomes a small tombstone after its retention, with several replicas", async () => {
    await world.orchestrator();
    await world.orchestrator();
    const name = await closedIncident();
    const before = await read(name);

    await world.passTime(24 * 60 * minute - 2 * minute);
    expect((await read(name)).spec).toEqual(before.spec);
    await world.passTime(4 * minute);

    const tombstone = await read(name);
    expect(tombstone.metadata.annotations).toMatchObject({ [annotationKeys.tombstone]: "true" });
    expect(JSON.stringify(tombstone).length).toBeLessThan(2_500);
    expect(tombstone.status).toMatchObject({
      phase: "Completed",
      diagnosis: { target: "node/worker-1", workflowId: "cleanup" },
      deduplication: { occurrenceCount: 7, occurrencesByWriter: { tombstone: 7 } },
    });
    expect(tombstone.status?.deduplication).not.toHaveProperty("series");
  });

  it("becomes a tombstone after a replica crashed between its two writes", async () => {
    const dying = await world.orchestrator({
      client: {
        ...world.client,
        async patch() {
          throw new Error("the process died");
        },
      },
    });
    const name = await closedIncident();
    await world.passTime(25 * 60 * minute);
    await dying.stop({ deadlineMs: 0 });
    expect(await read(name)).toMatchObject({ spec: texts });
    expect((await read(name)).status?.deduplication).not.toHaveProperty("series");

    await world.orchestrator();
    await world.passTime(minute);

    expect((await read(name)).spec).not.toHaveProperty("originalPayload");
  });

  it("is replaced by the next incident, with the next number", async () => {
    await world.orchestrator();
    const name = await closedIncident();
    await world.passTime(25 * 60 * minute);

    const second = await world.incident("disk", texts, 2);

    expect(await world.exists(name)).toBe(false);
    expect(await world.status(second)).toMatchObject({ phase: "Executing" });
  });

  async function closedIncident(): Promise<string> {
    const name = await world.incident("disk", texts);
    await world.reportRun("True");
    const deduplication = {
      firstSeenAt: "2026-01-01T00:00:00.000Z",
      lastSeenAt: "2026-01-01T00:00:00.000Z",
      occurrenceCount: 7,
      occurrencesByWriter: { "gw-1": 3, "gw-2": 4 },
      series,
    };
    const merge = { status: { deduplication } };
    await world.client.patch(remediationRequests, { namespace, name }, { merge }, { subresource: "status" });
    await world.resolve(name);
    expect(await world.status(name)).toMatchObject({ phase: "Completed" });
    return name;
  }

  async function read(name: string): Promise<RemediationRequest> {
    const found = await world.client.get(remediationRequests, { namespace, name });
    if (!found) throw new Error(`${name} is gone`);
    return found;
  }
});

describe("the spec of an incident", () => {
  let world: OrchestratorWorld;
  beforeEach(async () => {
    world = await OrchestratorWorld.open();
  });
  afterEach(() => world.close());

  it.each([
    ["loses a text while it is open", { originalPayload: null }, "stay until it is closed"],
    ["changes a text", { originalPayload: "forged" }, "does not change"],
    ["changes its severity", { severity: "info" }, "does not change"],
  ])("that %s is refused", async (_what, spec, message) => {
    const name = await world.incident("disk", texts);

    await expect(change(name, spec)).rejects.toThrow(message);
  });

  it.each([
    ["changes a text", { originalPayload: "forged" }],
    ["changes a label", { signalLabels: { node: "worker-2" } }],
    ["changes its fingerprint", { signalFingerprint: "v1:0000" }],
  ])("that %s after it was closed is refused", async (_what, spec) => {
    const name = await world.incident("disk", texts);
    const status = { phase: "Withdrawn", outcome: "Stale", completedAt: "2026-01-01T00:00:00.000Z" };
    await world.client.patch(
      remediationRequests,
      { namespace, name },
      { merge: { status } },
      { subresource: "status" },
    );

    await expect(change(name, spec)).rejects.toThrow();
    await expect(change(name, { originalPayload: null })).resolves.toMatchObject({ kind: "updated" });
    await expect(change(name, { originalPayload: "forged" })).rejects.toThrow("does not change");
  });

  function change(name: string, spec: object) {
    return world.client.patch(remediationRequests, { namespace, name }, { merge: { spec } });
  }
});
