import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readCatalog, readLogs } from "../../src/engines/index.ts";
import { builtInKinds } from "../../src/resources/index.ts";
import { LocalStage } from "../engines/local/local-stage.ts";

const catalog = "examples/workflow";

it("the example of a workflow is a catalog without problems", async () => {
  const { workflows, problems } = await readCatalog(catalog, builtInKinds);

  expect(problems).toEqual([]);
  expect(workflows.map(({ spec }) => spec.workflowId)).toEqual(["count-files"]);
});

it("the example of a workflow counts the files of a folder and prints the number", async () => {
  await using stage = new LocalStage();
  cpSync(catalog, stage.workflowsRoot, { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), "interlock-example-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["one", "two", "three"]) writeFileSync(join(folder, name), "");
  await stage.startRunner();

  const run = await stage.run("count-files", { target: "node/worker-1", parameters: { folder } });

  expect(stage.engine.stateOf(run)).toMatchObject({ kind: "succeeded", progress: { completedTasks: 2 } });
  const logs = await readLogs(stage.dataDir, run.metadata.uid ?? "");
  expect(logs.map(({ text }) => text)).toContain("node/worker-1: 3 files\n");
});
