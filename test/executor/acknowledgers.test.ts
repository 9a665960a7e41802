import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { namesKnownSince } from "../../src/app/index.ts";
import type { KubeObject } from "../../src/kube/index.ts";
import { ackIdentity, usualManifests } from "../../src/manifests/index.ts";
import { annotationKeys, remediationTargets } from "../../src/resources/index.ts";
import { defineAdmissionPolicies, putAdmissionPolicies } from "../doubles/admission-policies.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { ExecutorWorld } from "./executor-world.ts";

const [policy, binding] = ackIdentity(usualManifests.places) as [KubeObject, KubeObject];
const minute = 60_000;

let world: ExecutorWorld;

beforeEach(async () => {
  world = await ExecutorWorld.open();
  await defineAdmissionPolicies(world.client);
});

afterEach(() => world.close());

describe("an acknowledgement", () => {
  it("is verified where the shipped policy and its binding exist", async () => {
    await put(policy, binding);

    expect(await acknowledged()).toMatchObject({ by: "kim", verified: true });
  });

  it.each<[string, readonly KubeObject[]]>([
    ["there is neither policy nor binding", []],
    ["the binding is missing", [policy]],
    ["the policy is missing", [binding]],
    ["the binding only warns", [policy, changed(binding, { validationActions: ["Warn"] })]],
    [
      "the binding sees only some namespaces",
      [policy, changed(binding, { matchResources: { namespaceSelector: { matchLabels: { a: "b" } } } })],
    ],
    ["the policy is another one of that name", [changed(policy, { validations: [{ expression: "true" }] }), binding]],
    ["the policy ignores what it cannot judge", [changed(policy, { failurePolicy: "Ignore" }), binding]],
  ])("is not verified where %s", async (_, objects) => {
    await put(...objects);

    expect(await acknowledged()).toMatchObject({ by: "kim", verified: false });
  });

  it("is not verified when the policy was created after the acknowledged end", async () => {
    await failed();
    await put(policy, binding);

    expect(await acknowledge()).toMatchObject({ verified: false });
  });

  it("is not verified without a name", async () => {
    await put(policy, binding);
    await failed();

    expect(await acknowledge({})).toMatchObject({ by: "unknown", verified: false });
  });

  it("is not verified without permission to read policies, which is logged", async () => {
    await put(policy, binding);
    world.cluster.forbid("get", "validatingadmissionpolicies");

    expect(await acknowledged()).toMatchObject({ verified: false });
    expect(world.log.events).toContainEqual(
      expect.objectContaining({ level: "warn", event: "names cannot be verified" }),
    );
  });

  it("on the target's record, of a deleted execution, is verified, too", async () => {
    await put(policy, binding);
    await failed();
    const { uid = "" } = (await world.seen("first")).metadata;
    await world.delete("first");
    const { name = "", namespace = "" } = (await world.record()).metadata;
    const annotations = { ...inNameOf("kim"), [annotationKeys.acknowledgedExecution]: uid };
    await world.client.patch(remediationTargets, { name, namespace }, { merge: { metadata: { annotations } } });
    await world.settle();

    expect(recorded()).toMatchObject({ by: "kim", verified: true });
  });
});

it("a server without admission policies verifies no name", async () => {
  const bare = await ExecutorWorld.open();

  expect(await namesKnownSince({ client: bare.client, policy: [policy, binding], log: bare.log })).toBeUndefined();
  expect(bare.log.events).toEqual([]);

  await bare.close();
});

async function acknowledged() {
  await failed();
  return acknowledge();
}

async function failed() {
  await world.passTime(10 * minute);
  const client = permittedClient(world.client, "executor");
  await world.executor({
    acknowledgersKnownSince: (signal) => namesKnownSince({ client, policy: [policy, binding], log: world.log }, signal),
  });
  await world.execution("first");
  await world.report("Unknown");
  await world.deleteRun();
  await world.passTime(10 * minute);
}

async function acknowledge(by: Readonly<Record<string, string>> = inNameOf("kim")) {
  await world.annotate("first", { [annotationKeys.acknowledge]: "checked", ...by });
  return recorded();
}

function inNameOf(name: string) {
  return { [annotationKeys.acknowledge]: "checked", [annotationKeys.acknowledgedBy]: name };
}

function recorded() {
  return world.ledger.events().find(({ type }) => type === "failure.acknowledged")?.facts;
}

function put(...objects: readonly KubeObject[]) {
  return putAdmissionPolicies(world.client, ...objects);
}

function changed(object: KubeObject, spec: object): KubeObject {
  return { ...object, spec: { ...(object as unknown as { spec: object }).spec, ...spec } } as KubeObject;
}
