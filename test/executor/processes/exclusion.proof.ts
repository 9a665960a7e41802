import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine, WorkflowExecution } from "../../../src/resources/index.ts";
import { Stage } from "./stage.ts";
import { until } from "./until.ts";

const engines: readonly Engine[] = ["tekton", "job", "local"];

describe("one target", () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.open({ engines });
    stage.executor();
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it.each(engines)("that %s acts on is busy for every engine", { timeout: 60_000 }, async (engine) => {
    const target = `node/held-by-${engine}`;
    const holder = await stage.create(`holder-${engine}`, { engine, target, does: "hang" });
    await until("it acts", () => stage.witness.of(uidOf(holder)).length > 0);

    const others = await Promise.all(
      engines.map((other) => stage.create(`${other}-after-${engine}`, { engine: other, target, does: "succeed" })),
    );

    for (const other of others) expect(await skipOf(other)).toMatchObject(busyWith(holder));
    expect(others.flatMap((other) => stage.witness.of(uidOf(other)))).toEqual([]);
    await stage.delete(nameOf(holder));
    await until("it is gone", async () => (await stage.execution(nameOf(holder))) === undefined);
  });

  it("has many spellings and is one", { timeout: 60_000 }, async () => {
    const spellings = ["Deployment", "deployments", "deploy", "deployment.apps"];
    const target = (kind: string) => `payment/${kind}/payment-api`;
    const holder = await stage.create("holder", { engine: "job", target: target("deployment"), does: "hang" });
    await until("it acts", () => stage.witness.of(uidOf(holder)).length > 0);

    const others = await Promise.all(
      spellings.map((kind, index) =>
        stage.create(`spelling-${index}`, { engine: "tekton", target: target(kind), does: "succeed" }),
      ),
    );

    for (const other of others) {
      expect(await skipOf(other)).toMatchObject(busyWith(holder, { targetResource: "payment/deployment/payment-api" }));
    }
    await stage.delete(nameOf(holder));
    await until("it is gone", async () => (await stage.execution(nameOf(holder))) === undefined);
  });

  async function skipOf(execution: WorkflowExecution) {
    const { status } = await until(`${nameOf(execution)} is decided`, async () => {
      const found = await stage.execution(nameOf(execution));
      return found?.status && found.status.phase !== "Pending" ? found : undefined;
    });
    return status;
  }
});

function busyWith(holder: WorkflowExecution, facts: object = {}) {
  const conflictingWorkflow = { uid: uidOf(holder), name: nameOf(holder), ...facts };
  return { phase: "Skipped", skipDetails: { reason: "ResourceBusy", conflictingWorkflow } };
}

function uidOf({ metadata }: WorkflowExecution): string {
  return metadata.uid ?? "";
}

function nameOf({ metadata }: WorkflowExecution): string {
  return metadata.name ?? "";
}
