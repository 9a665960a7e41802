import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Mutation } from "../../services/bundle.ts";
import { createLate, type SharedEngine, startLate } from "./late-writes.ts";
import { Stage } from "./stage.ts";

const engines: readonly SharedEngine[] = ["tekton", "job"];

describe("an executor that was paused", () => {
  const stage = stageWith([]);

  it.each(engines)("before it created a run on %s: that run never acts", { timeout: 90_000 }, async (engine) => {
    expect(await createLate(stage(), engine)).toEqual([]);
  });

  it.each(engines)("before it started a run on %s: it starts no other", { timeout: 90_000 }, async (engine) => {
    expect(await startLate(stage(), engine)).toEqual([]);
  });
});

// What the tests above are good for.
describe("an executor that creates runs as started ones", () => {
  const stage = stageWith([
    { file: "tekton/manifest.ts", from: 'status: "PipelineRunPending",', to: "" },
    { file: "job/manifest.ts", from: "suspend: true,", to: "" },
  ]);

  it.each(engines)("is found out on %s", { timeout: 90_000 }, async (engine) => {
    expect(await createLate(stage(), engine)).not.toEqual([]);
  });
});

describe("an executor that starts whatever run has the name", () => {
  const stage = stageWith([
    { file: "kube/runtime/writes.ts", from: "{ ...change.metadata, resourceVersion }", to: "change.metadata" },
  ]);

  it.each(engines)("is found out on %s", { timeout: 90_000 }, async (engine) => {
    expect(await startLate(stage(), engine)).not.toEqual([]);
  });
});

function stageWith(mutations: readonly Mutation[]): () => Stage {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.open({ engines, mutations });
  });
  afterAll(() => stage[Symbol.asyncDispose]());
  return () => stage;
}
