import { beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import {
  type CustomResourceDefinition,
  customResourceDefinitions,
  type KubeClient,
  KubeError,
} from "../../kube/index.ts";
import { systemRandom } from "../../time/index.ts";
import { toCustomKinds } from "../custom-kinds/to-custom-kinds.ts";
import { kindsWith } from "../target/kinds.ts";
import { parseTarget } from "../target/parse-target.ts";
import { toCrd } from "./crd.ts";
import { crdStep, installCrds } from "./install.ts";
import { resourceKinds } from "./resource-kinds.ts";

const ours = toCrd(resourceKinds[0] as (typeof resourceKinds)[number]);
const name = "remediationrequests.kubernaut.ai";
const olderSpec = {
  ...ours.spec,
  versions: ours.spec.versions.map(({ additionalPrinterColumns: _, ...version }) => version),
} as CustomResourceDefinition["spec"];

describe("the installation of a definition", () => {
  it("creates it if it is missing", () => {
    expect(crdStep(ours, undefined)).toEqual({ do: "create", name, crd: ours });
  });

  it("keeps ours if it is current", () => {
    expect(crdStep(ours, stored({}))).toEqual({ do: "keep", name });
  });

  it("updates an older one of ours at the version that was read, and keeps the additions of others", () => {
    const metadata = { ...stored({}).metadata, resourceVersion: "7", annotations: { team: "ops" } };
    const older = stored({ metadata, spec: { ...ours.spec, versions: [] } });

    const annotations = { team: "ops", "kubernaut.ai/format": "1" };
    expect(crdStep(ours, older)).toEqual({
      do: "update",
      name,
      crd: { ...ours, metadata: { ...metadata, annotations } },
    });
  });

  it("keeps ours from before formats were recorded", () => {
    const { annotations: _, ...metadata } = ours.metadata;

    expect(crdStep(ours, stored({ metadata }))).toEqual({ do: "keep", name });
  });

  it("is refused if a newer version has written it in a format that this one does not support", () => {
    const newer = stored({ metadata: { ...ours.metadata, annotations: { "kubernaut.ai/format": "2" } } });

    expect(crdStep(ours, newer)).toEqual({
      do: "refuse",
      name,
      because: `${name} is in format 2, written by a newer version of Interlock; this version supports formats up to 1: start that version`,
    });
  });

  it.each([
    ["has no labels", {}],
    ["is managed by another tool", { labels: { "app.kubernetes.io/managed-by": "Helm" } }],
  ])("does not change it, and reports it, if it %s", (_what, metadata) => {
    const foreign = stored({ metadata: { name, ...metadata }, spec: { ...ours.spec, versions: [] } });

    expect(crdStep(ours, foreign)).toEqual({
      do: "leave",
      name,
      because: `${name} exists without the label "app.kubernetes.io/managed-by: interlock", so Interlock does not change it: required fields may be missing`,
    });
  });

  it("does not change it while it is being deleted", () => {
    const dying = stored({ metadata: { ...ours.metadata, deletionTimestamp: "2026-11-15T06:00:00Z" } });

    expect(crdStep(ours, dying)).toEqual({
      do: "leave",
      name,
      because: `${name} is being deleted, with all its objects: start again when it is gone`,
    });
  });
});

describe("installing the definitions", () => {
  let client: KubeClient;

  beforeEach(() => {
    client = testCluster({ clock: new ManualClock(), random: systemRandom() }).client();
  });

  it("creates all of them on an empty server, and does nothing the second time", async () => {
    const first = await installCrds(client);
    const second = await installCrds(client);

    expect(new Set(first.map((step) => step.do))).toEqual(new Set(["create"]));
    expect(new Set(second.map((step) => step.do))).toEqual(new Set(["keep"]));
    expect((await client.list(customResourceDefinitions)).items).toHaveLength(resourceKinds.length);
  });

  it("never changes one that belongs to another tool", async () => {
    const foreign = { ...ours, metadata: { name }, spec: olderSpec };
    await client.create(customResourceDefinitions, foreign);

    const steps = await installCrds(client);

    expect(steps[0]).toMatchObject({ do: "leave", name });
    expect((await client.get(customResourceDefinitions, { name }))?.spec.versions).toEqual(olderSpec.versions);
  });

  it("updates an older one of ours", async () => {
    await client.create(customResourceDefinitions, { ...ours, spec: olderSpec });

    const steps = await installCrds(client);

    expect(steps[0]).toMatchObject({ do: "update", name });
    expect((await client.get(customResourceDefinitions, { name }))?.spec).toMatchObject(ours.spec);
  });

  it("accepts those of the next or previous version if this process may not change them", async () => {
    await installCrds(client);
    await client.update(customResourceDefinitions, {
      ...((await client.get(customResourceDefinitions, { name })) as CustomResourceDefinition),
      spec: olderSpec,
    });
    const update = () => Promise.reject(new KubeError("forbidden", "may not update customresourcedefinitions"));

    const steps = await installCrds({ ...client, update });

    expect(steps[0]).toMatchObject({ do: "leave", name, because: expect.stringContaining("run interlock upgrade") });
  });

  it("succeeds on many replicas at once, each definition created once", async () => {
    const installations = await Promise.all(Array.from({ length: 5 }, () => installCrds(client)));

    const created = installations.flat().filter((step) => step.do === "create");
    expect(created).toHaveLength(resourceKinds.length);
  });

  it("fails with an error if a definition changes faster than it can be updated", async () => {
    await client.create(customResourceDefinitions, { ...ours, spec: olderSpec });
    const unlucky: KubeClient = { ...client, update: async () => ({ kind: "conflict", message: "changed" }) };

    await expect(installCrds(unlucky)).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("definitions as kinds of target", () => {
  it("allow their objects as targets, in every spelling", () => {
    const kinds = kindsWith(toCustomKinds(resourceKinds.map(toCrd)));

    const texts = ["WorkflowExecution", "workflowexecutions", "wfe"].map((spelling) => {
      const reading = parseTarget(`system/${spelling}.kubernaut.ai/one`, kinds);
      return reading.kind === "target" ? reading.target.text : reading.problem;
    });

    expect(new Set(texts)).toEqual(new Set(["system/workflowexecution.kubernaut.ai/one"]));
  });
});

function stored(change: Partial<CustomResourceDefinition>): CustomResourceDefinition {
  return { ...ours, ...change };
}
