import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { type KubeClient, KubeError, type KubeObject } from "../../kube/index.ts";
import type { LedgerEvent, LedgerEventType } from "../../ledger/index.ts";
import { installCrds, workflowExecutions } from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";
import { errorStatus } from "../to-command-error.ts";

const runUid = "6d4c1f1e-6f1e-4b6b-9a50-0d7a4a3a6d11";
const created = event("run.created", { run: "wfe-1", run_id: runUid, run_kind: "PipelineRun" });
const deleted = event("execution.deleted", { phase: "Completed" });

let client: KubeClient;
let directory: string;

beforeEach(async () => {
  client = testCluster({
    clock: new ManualClock(),
    random: systemRandom(),
    namespaces: ["kubernaut-system", "kubernaut-workflows"],
  }).client();
  await installCrds(client);
  directory = mkdtempSync(join(tmpdir(), "interlock-logs-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("interlock logs of an execution that was deleted", () => {
  it("prints the output that the local engine has kept of the run in the ledger", async () => {
    const step = join(directory, "local", "runs", runUid, "clean.0", "steps", "0");
    mkdirSync(step, { recursive: true });
    writeFileSync(join(step, "output"), "freed 3 GB\n");
    const cli = new TestCli(client, { directory, events: () => [created, deleted] });

    expect(await cli.run("logs", "a")).toBe(0);

    expect(cli.read()).toContain("freed 3 GB");
  });

  it("lists the tasks and steps if the one that was named is not among them", async () => {
    const step = join(directory, "local", "runs", runUid, "clean.0", "steps", "0");
    mkdirSync(step, { recursive: true });
    writeFileSync(join(step, "output"), "freed 3 GB\n");
    const cli = new TestCli(client, { directory, events: () => [created, deleted] });

    await expect(cli.run("logs", "a", "--task", "claen")).rejects.toThrow(
      /^run wfe-1 has no such task or step; it has clean\/\S+$/,
    );
  });

  it("accepts names with their kind before them, as kubectl prints them", async () => {
    const step = join(directory, "local", "runs", runUid, "clean.0", "steps", "0");
    mkdirSync(step, { recursive: true });
    writeFileSync(join(step, "output"), "freed 3 GB\n");
    const cli = new TestCli(client, { directory, events: () => [created, deleted] });

    expect(await cli.run("logs", "execution/a", "workflowexecution.kubernaut.ai/a")).toBe(0);

    expect(
      cli
        .read()
        .split("\n")
        .filter((line) => line === "freed 3 GB"),
    ).toHaveLength(2);
  });

  it("prints the output of several executions in turn, and reports one without output", async () => {
    const step = join(directory, "local", "runs", runUid, "clean.0", "steps", "0");
    mkdirSync(step, { recursive: true });
    writeFileSync(join(step, "output"), "freed 3 GB\n");
    const cli = new TestCli(client, { directory, events: () => [created] });

    expect(await cli.run("logs", "b", "a")).toBe(1);

    expect(cli.read()).toBe("── b\n── a\n── task clean, step 1\nfreed 3 GB");
  });

  it("follows one execution, not several", async () => {
    const cli = new TestCli(client, { directory });

    await expect(cli.run("logs", "-f", "a", "b")).rejects.toThrow("--follow follows one execution");
  });

  it("prints where the output may be if it ran in a cluster", async () => {
    const cli = new TestCli(client, { directory, events: () => [created, deleted] });

    const error = await cli.run("logs", "a").catch((error: unknown) => error);

    expect(String(error)).toContain("kubectl logs -n kubernaut-workflows -l tekton.dev/pipelineRun=wfe-1");
    expect(String(error)).toContain(`was deleted at ${deleted.at}`);
  });

  it("prints the output that its pods still have, each line with task and step", async () => {
    const pods = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
    const labels = { "tekton.dev/pipelineRunUID": runUid, "tekton.dev/pipelineTask": "clean" };
    const metadata = { name: "p", namespace: "kubernaut-workflows", labels };
    const pod = await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata });
    const terminated = { exitCode: 0, containerID: "c" };
    const status = { phase: "Succeeded", containerStatuses: [{ name: "step-remove", state: { terminated } }] };
    if (pod.kind === "created")
      await client.update(pods, { ...pod.object, status } as KubeObject, { subresource: "status" });
    async function* podLogs() {
      yield Buffer.from("2026-03-01T12:00:00Z freed \u001b[2J3 GB\n");
    }
    const cli = new TestCli(client, { directory, events: () => [created, deleted], podLogs });

    expect(await cli.run("logs", "a")).toBe(0);

    expect(cli.read()).toBe(String.raw`clean/remove freed \u001b[2J3 GB`);
  });

  it("exits with the status for a missing right if its pods may not be read", async () => {
    const message = 'cannot list resource "pods"';
    const refusing = {
      ...client,
      list: ((type, query, call) => {
        if (type.kind === "Pod") return Promise.reject(new KubeError("forbidden", message));
        return client.list(type, query, call);
      }) as KubeClient["list"],
    };
    // biome-ignore lint/correctness/useYield: a stream that is not reached.
    async function* podLogs() {
      throw new Error("no pod is known");
    }
    const cli = new TestCli(refusing, { directory, events: () => [created, deleted], podLogs });

    const error = await cli.run("logs", "a").catch((error: unknown) => error);

    expect(String(error)).toContain(message);
    expect(errorStatus(error)).toBe(5);
  });

  it("fails with the reason if it never had a run", async () => {
    const cli = new TestCli(client, { directory, events: () => [deleted] });

    await expect(cli.run("logs", "a")).rejects.toThrow("execution a was deleted and never had a run");
  });

  it("fails with a hint if the ledger cannot be read", async () => {
    const cli = new TestCli(client, { directory });

    await expect(cli.run("logs", "a")).rejects.toThrow("the ledger cannot be read here");
  });
});

describe("interlock logs of an execution whose run has printed nothing", () => {
  it.each([
    ["Running", "interlock logs -f a"],
    ["Failed", "interlock why a"],
  ])("names the next command if it is %s", async (phase, command) => {
    const ref = { namespace: "kubernaut-system", name: "a" };
    const workflowRef = { workflowId: "w", version: "1", containerImage: "x" };
    await client.create(workflowExecutions, { metadata: ref, spec: { workflowRef, targetResource: "node/a" } });
    const pipelineRunRef = { namespace: "kubernaut-workflows", name: "wfe-1", uid: runUid, kind: "PipelineRun" };
    for (const status of [{ phase: "Pending" }, { phase, pipelineRunRef, startTime: created.at, ...ends[phase] }]) {
      await client.patch(workflowExecutions, ref, { merge: { status } }, { subresource: "status" });
    }
    const cli = new TestCli(client, { directory });

    const error = await cli.run("logs", "a").catch((error: unknown) => error);

    expect(String(error)).toContain("there is no output of run wfe-1");
    expect(String(error)).toContain(command);
  });

  const failureDetails = {
    ...{ reason: "ImagePullFailed", message: "no such image", failedAt: created.at },
    ...{ naturalLanguageSummary: "No image.", wasExecutionFailure: false, requiresManualReview: false },
  };
  const ends: Readonly<Record<string, object>> = {
    Failed: { outcome: "Failed", completionTime: created.at, failureDetails },
  };
});

function event(type: LedgerEventType, facts: LedgerEvent["facts"]): LedgerEvent {
  const about = { execution: "kubernaut-system/a", execution_id: "uid-a" };
  return { id: `uid-a/${type}`, type, at: "2026-03-01T12:00:00.000Z", facts: { ...about, ...facts } };
}
