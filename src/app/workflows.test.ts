import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type RecordingLogger, recordingLogger } from "../../test/doubles/recording-logger.ts";
import { testCluster } from "../../test/doubles/test-cluster.ts";
import type { KubeClient } from "../kube/index.ts";
import { builtInKinds, fixedKinds, installCrds, remediationWorkflows } from "../resources/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { openWorkflows, type Workflows } from "./workflows.ts";

const goodPipeline = `apiVersion: tekton.dev/v1
kind: Pipeline
metadata: { name: cleanup }
spec:
  tasks:
    - name: clean
      taskSpec:
        steps:
          - name: clean
            image: none
            script: echo clean
`;

describe("a folder of workflows, while Interlock runs", () => {
  let root: string;
  let directory: string;
  let client: KubeClient;
  let log: RecordingLogger;
  let workflows: Workflows | undefined;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "interlock-workflows-"));
    directory = join(root, "workflows");
    const clock = systemClock();
    client = testCluster({ clock, random: systemRandom(), namespaces: ["kubernaut-system"] }).client();
    await installCrds(client);
    log = recordingLogger();
  });
  afterEach(async () => {
    workflows?.close();
    await rm(root, { recursive: true });
  });

  it("stores a new workflow when its file is created", async () => {
    await write("cleanup", { version: "1.0.0" });
    await open();

    await write("restart", { version: "1.0.0" });

    await vi.waitUntil(async () => (await stored()).includes("restart 1.0.0"), { timeout: 30_000 });
    expect(workflows?.ids).toEqual(["cleanup", "restart"]);
  });

  it("distinguishes the ready-made actions of the local engine from other workflows", async () => {
    const action = goodPipeline.replace("script: echo clean", "command: [interlock, action, scale]");
    await write("cleanup", { version: "1.0.0", engine: "local", containerImage: "cleanup" });
    await pipeline("cleanup", goodPipeline);
    await write("scale", { version: "1.0.0", engine: "local", containerImage: "scale" });
    await pipeline("scale", action);
    await write("elsewhere", { version: "1.0.0" });

    await open();

    expect(workflows?.ids).toEqual(["cleanup", "elsewhere", "scale"]);
    expect(workflows?.actionIds).toEqual(["scale"]);
  });

  it("stores a new version beside the earlier one when a file is changed", async () => {
    await write("cleanup", { version: "1.0.0" });
    await open();

    await write("cleanup", { version: "1.1.0" });

    await vi.waitUntil(async () => (await stored()).includes("cleanup 1.1.0"), { timeout: 30_000 });
    expect(await stored()).toEqual(["cleanup 1.0.0", "cleanup 1.1.0"]);
  });

  it("keeps the stored version while its file has a problem, which is logged once", async () => {
    await write("cleanup", { version: "1.0.0" });
    await open();

    await write("cleanup", { version: "2.0.0", timeout: "soon" });
    await vi.waitUntil(() => logged("workflow not loaded").length > 0, { timeout: 30_000 });
    await write("restart", { version: "1.0.0" });
    await vi.waitUntil(async () => (await stored()).includes("restart 1.0.0"), { timeout: 30_000 });

    expect(await stored()).toEqual(["cleanup 1.0.0", "restart 1.0.0"]);
    expect(logged("workflow not loaded")).toEqual([
      {
        level: "error",
        event: "workflow not loaded",
        fields: {
          problem: expect.stringMatching(/cleanup.workflow\.yaml:\d+: timeout must be/),
          next: expect.any(String),
        },
      },
    ]);
    expect(logged("workflow file removed")).toEqual([]);
  });

  it("marks the stored version as Invalid while its pipeline cannot be read, and as Active after a correction", async () => {
    await write("cleanup", { version: "1.0.0", engine: "local", containerImage: "cleanup" });
    await pipeline("cleanup", "apiVersion: tekton.dev/v1\nkind: Pipeline\n");
    await open();
    expect(await stored()).toEqual([]);

    await pipeline("cleanup", goodPipeline);
    await vi.waitUntil(async () => (await status("cleanup"))?.catalogStatus === "Active", { timeout: 30_000 });
    await pipeline("cleanup", goodPipeline.replace("script:", "scrpt:"));
    await vi.waitUntil(async () => (await status("cleanup"))?.catalogStatus === "Invalid", { timeout: 30_000 });
    expect((await status("cleanup"))?.problems).toEqual([expect.stringContaining("cleanup/pipeline.yaml")]);

    await pipeline("cleanup", goodPipeline);
    await vi.waitUntil(async () => (await status("cleanup"))?.catalogStatus === "Active", { timeout: 30_000 });
    expect((await status("cleanup"))?.problems).toBeUndefined();
  });

  it("warns when a file is changed without a new version, because the stored one stays", async () => {
    await write("cleanup", { version: "1.0.0" });
    await open();

    await write("cleanup", { version: "1.0.0", timeout: "10m" });

    await vi.waitUntil(() => logged("workflow left alone").length > 0, { timeout: 30_000 });
    expect(logged("workflow left alone")[0]?.fields["because"]).toContain("give yours a new version");
  });

  it("keeps the entry of a removed file, and logs how to remove it", async () => {
    await write("cleanup", { version: "1.0.0" });
    await open();

    await rm(join(directory, "cleanup"), { recursive: true });

    await vi.waitUntil(() => logged("workflow file removed").length > 0, { timeout: 30_000 });
    expect(await stored()).toEqual(["cleanup 1.0.0"]);
    expect(logged("workflow file removed")[0]?.fields).toMatchObject({
      workflowId: "cleanup",
      next: expect.stringContaining("kubectl delete rw cleanup-1-0-0-"),
    });
  });

  it("may be created after the start, and replaced", async () => {
    await open();

    await write("cleanup", { version: "1.0.0" });
    await vi.waitUntil(async () => (await stored()).includes("cleanup 1.0.0"), { timeout: 30_000 });
    await rm(directory, { recursive: true });
    await vi.waitUntil(() => workflows?.ids.length === 0, { timeout: 30_000 });
    await write("restart", { version: "1.0.0" });

    await vi.waitUntil(async () => (await stored()).includes("restart 1.0.0"), { timeout: 30_000 });
  });

  it("is stored later if the API server does not respond at first", async () => {
    await open();
    let isDown = true;
    const { create } = client;
    client.create = ((...args: Parameters<typeof create>) => {
      if (isDown) throw new Error("no answer");
      return create.apply(client, args);
    }) as typeof create;

    await write("cleanup", { version: "1.0.0" });
    await vi.waitUntil(() => logged("folder reload failed").length > 0, { timeout: 30_000 });
    isDown = false;

    await vi.waitUntil(async () => (await stored()).includes("cleanup 1.0.0"), { timeout: 30_000 });
  });

  it("warns once of a workflow whose engine is not set up here, with the fix", async () => {
    await write("cleanup", { version: "1.0.0", engine: "job" });
    await open();
    await write("restart", { version: "1.0.0" });
    await vi.waitUntil(async () => (await stored()).includes("restart 1.0.0"), { timeout: 30_000 });

    expect(logged("workflow cannot run").map(({ fields }) => fields)).toEqual([
      {
        because:
          "workflow cleanup 1.0.0 needs engine job, which is not set up here: add job to execution.engines (now tekton), or change the workflow",
      },
    ]);
  });

  async function open() {
    workflows = await openWorkflows({
      directory,
      namespace: "kubernaut-system",
      defaultEngine: "tekton",
      engines: ["tekton"],
      client,
      kinds: fixedKinds(builtInKinds),
      clock: systemClock(),
      log,
    });
  }

  async function pipeline(workflowId: string, text: string) {
    await writeFile(join(directory, workflowId, "pipeline.yaml"), text);
  }

  async function status(workflowId: string) {
    const { items } = await client.list(remediationWorkflows, { namespace: "kubernaut-system" });
    return items.find(({ spec }) => spec.workflowId === workflowId)?.status;
  }

  async function write(workflowId: string, spec: { readonly version: string; readonly [field: string]: string }) {
    await mkdir(join(directory, workflowId), { recursive: true });
    const entry = { workflowId, description: "For tests.", engine: "tekton", containerImage: "image", ...spec };
    await writeFile(join(directory, workflowId, "workflow.yaml"), JSON.stringify(entry));
  }

  async function stored(): Promise<readonly string[]> {
    const { items } = await client.list(remediationWorkflows, { namespace: "kubernaut-system" });
    return items.map(({ spec }) => `${spec.workflowId} ${spec.version}`).sort();
  }

  function logged(event: string) {
    return log.events.filter((one) => one.event === event);
  }
});
