import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readCatalog, storeCatalog } from "../../src/engines/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import {
  builtInKinds,
  installCrds,
  type RemediationWorkflow,
  remediationWorkflows,
} from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { testCluster } from "../doubles/test-cluster.ts";

describe("a folder of workflows", () => {
  let root: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "interlock-catalog-"));
  });

  afterEach(async () => {
    await rm(root, { recursive: true });
  });

  it("is read in order, without folders that have no workflow.yaml", async () => {
    await write("b", "{ workflowId: b, version: 1.0.0, description: d, containerImage: i }");
    await write("a", "{ workflowId: a, version: 1.0.0, description: d, containerImage: i }");
    await mkdir(join(root, "notes"));
    await writeFile(join(root, "README.md"), "not a folder");

    const { workflows, problems } = await readCatalog(root, builtInKinds);

    expect(workflows.map(({ spec }) => spec.workflowId)).toEqual(["a", "b"]);
    expect(problems).toEqual([]);
  });

  it("is read without the invalid workflows", async () => {
    await write("bad", "{ workflowId: bad, version: 1.0.0, containerImage: i }");
    await write("good", "{ workflowId: good, version: 1.0.0, description: d, containerImage: i }");

    const { workflows, problems } = await readCatalog(root, builtInKinds);

    expect(workflows.map(({ spec }) => spec.workflowId)).toEqual(["good"]);
    expect(problems).toEqual([`${join(root, "bad", "workflow.yaml")}:1: description is missing`]);
  });

  it("reports a workflow.yaml and a pipeline.yaml that cannot be read, and loads the other workflows", async () => {
    const local = "version: 1.0.0, description: d, engine: local";
    await mkdir(join(root, "a", "workflow.yaml"), { recursive: true });
    await write("b", `{ workflowId: b, ${local} }`);
    await mkdir(join(root, "b", "pipeline.yaml"));
    await write("c", "{ workflowId: c, version: 1.0.0, description: d, containerImage: i }");

    const { workflows, problems } = await readCatalog(root, builtInKinds);

    expect(workflows.map(({ spec }) => spec.workflowId)).toEqual(["c"]);
    expect(problems).toEqual([
      `${join(root, "a", "workflow.yaml")}:1: cannot be read (EISDIR)`,
      `${join(root, "b", "workflow.yaml")}:1: the file b/pipeline.yaml cannot be read (EISDIR)`,
    ]);
  });

  it("with one version twice has a problem that names both files", async () => {
    await write("a", "{ workflowId: a, version: 1.0.0, description: d, containerImage: i }");
    await write("copy", "{ workflowId: a, version: 1.0.0, description: other, containerImage: i }");

    const { workflows, problems } = await readCatalog(root, builtInKinds);

    expect(workflows).toHaveLength(1);
    expect(problems).toEqual([
      `${join(root, "copy", "workflow.yaml")}:1: version 1.0.0 of a is also in ${join(root, "a", "workflow.yaml")}: keep one of them`,
    ]);
  });

  it("does not load a workflow whose pipeline puts a parameter into code, and reports where and what to do", async () => {
    const entry = "workflowId: bad, version: 1.0.0, description: d, engine: local";
    await write("bad", `{ ${entry}, parameters: { properties: { x: { type: string, default: a } } } }`);
    await pipeline(
      "bad",
      "{params: [{name: x}], tasks: [{name: a, taskSpec: {steps: [{command: [sh, -ce, $(params.x)]}]}}]}",
    );

    const { workflows, problems } = await readCatalog(root, builtInKinds);

    expect(workflows).toEqual([]);
    const place = `${join(root, "bad", "pipeline.yaml")}: spec.tasks[0].taskSpec.steps[0].command[2]`;
    expect(problems).toEqual([
      `${place}: $(params.x) cannot be used in code: a value could be run as a command. Add "env: [{name: VALUE, value: $(params.x)}]" to the step and write "$VALUE" in its place`,
    ]);
  });

  it.each([
    ["is missing", undefined, "", "workflow.yaml:1: there is no file w/pipeline.yaml"],
    ["is not YAML", "{", "", "Flow map"],
    ["needs a parameter that the workflow does not have", params("[{name: y}]"), "", "spec.params[0]: y is missing"],
    [
      "needs a parameter that the workflow does not require",
      params("[{name: x}]"),
      "x: { type: string }",
      "spec.params[0]: x may be missing",
    ],
    [
      "has a parameter of another type",
      params("[{name: x, type: array}]"),
      "x: { type: string, default: a }",
      "spec.params[0]: x has the type array, but string in workflow.yaml",
    ],
  ])("does not load a workflow of the local engine whose pipeline %s", async (_what, text, properties, problem) => {
    const parameters = `parameters: { properties: { ${properties} } }`;
    await write("w", `{ workflowId: w, version: 1.0.0, description: d, containerImage: w, ${parameters} }`);
    if (text) await pipeline("w", text);

    const { workflows, problems } = await readCatalog(root, builtInKinds, { defaultEngine: "local" });

    expect(workflows).toEqual([]);
    expect(problems.join("\n")).toContain(problem);
  });

  it("that is shipped is loaded", async () => {
    const { workflows, problems } = await readCatalog("workflows", builtInKinds, { defaultEngine: "local" });

    expect(problems).toEqual([]);
    expect(workflows.length).toBeGreaterThan(0);
  });

  async function write(folder: string, text: string) {
    await mkdir(join(root, folder));
    await writeFile(join(root, folder, "workflow.yaml"), text);
  }

  async function pipeline(folder: string, spec: string) {
    const start = "apiVersion: tekton.dev/v1\nkind: Pipeline\nmetadata: {name: workflow}\n";
    await writeFile(join(root, folder, "pipeline.yaml"), `${start}spec: ${spec}\n`);
  }
});

function params(list: string): string {
  return `{params: ${list}, tasks: [{name: a, taskSpec: {steps: [{script: "true"}]}}]}`;
}

describe("storing a catalog", () => {
  const namespace = "kubernaut-system";
  let client: KubeClient;

  beforeEach(async () => {
    client = testCluster({ clock: systemClock(), random: systemRandom(), namespaces: [namespace] }).client();
    await installCrds(client);
  });

  it("creates missing entries as Active, and keeps them the next time", async () => {
    const first = await storeCatalog(client, { namespace, workflows: [entry()] });
    const second = await storeCatalog(client, { namespace, workflows: [entry()] });

    expect(first).toEqual([{ did: "create", name: "a-1" }]);
    expect(second).toEqual([{ did: "keep", name: "a-1" }]);
    expect(await stored()).toMatchObject({ spec: entry().spec, status: { catalogStatus: "Active" } });
  });

  it("activates an entry whose creator crashed before it did", async () => {
    const labels = { "app.kubernetes.io/managed-by": "interlock" };
    await client.create(remediationWorkflows, { ...entry(), metadata: { name: "a-1", namespace, labels } });

    await storeCatalog(client, { namespace, workflows: [entry()] });

    expect((await stored())?.status).toEqual({ catalogStatus: "Active" });
  });

  it("does not change an existing version, and reports the fix", async () => {
    await storeCatalog(client, { namespace, workflows: [entry()] });

    const steps = await storeCatalog(client, { namespace, workflows: [entry("another image")] });

    expect(steps).toEqual([
      {
        did: "leave",
        name: "a-1",
        because: "version 1 of a is in the catalog with another content: give yours a new version",
      },
    ]);
    expect((await stored())?.spec).toEqual(entry().spec);
  });

  it("does not change an entry of another owner, nor its status", async () => {
    await client.create(remediationWorkflows, { ...entry("theirs"), metadata: { name: "a-1", namespace } });
    const before = await stored();

    const [step] = await storeCatalog(client, { namespace, workflows: [entry()] });

    expect(step).toMatchObject({ did: "leave", because: expect.stringContaining("was not put there by us") });
    expect(await stored()).toEqual(before);
  });

  function stored(): Promise<RemediationWorkflow | undefined> {
    return client.get(remediationWorkflows, { namespace, name: "a-1" });
  }
});

function entry(containerImage = "i"): RemediationWorkflow {
  const spec = { workflowId: "a", version: "1", description: "d", containerImage, pipeline: "workflow" };
  return { metadata: { name: "a-1" }, spec };
}
