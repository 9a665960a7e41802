import { describe, expect, it } from "vitest";
import { type KubeClient, KubeError, type ResourceType } from "../../src/kube/index.ts";
import type { OperationName } from "../../src/operate/index.ts";
import {
  automationPauses,
  remediationApprovalRequests,
  remediationRequests,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { incident, namespace, OperateWorld, type PartialRequest, taskName } from "./operate-world.ts";

/** Every operation, on every kind of object that it accepts. */
const requests: readonly (readonly [string, OperationName, PartialRequest])[] = [
  ["ack of an execution", "ack", { object: `${namespace}/failed` }],
  ["ack of an incident", "ack", { object: incident }],
  ["ack of a deleted execution", "ack", { object: "gone" }],
  ["approve", "approve", { object: "rar-1" }],
  ["approve by the incident", "approve", { object: `${namespace}/${incident}` }],
  ["reject", "reject", { object: `${namespace}/rar-1` }],
  ["pause", "pause", { scope: ["all"] }],
  ["pause for a time", "pause", { scope: ["target", "node/worker-1"], for: "2h" }],
  ["resume of a pause", "resume", { object: "freeze" }],
  ["resume of a scope", "resume", { scope: ["namespace", "payment"] }],
  ["cancel of an execution", "cancel", { object: "running", block: true }],
  ["cancel of an incident", "cancel", { object: incident }],
  ["cancel of a task", "cancel", { object: taskName }],
  ["run", "run", { workflow: "cleanup", target: "node/worker-1", parameters: { keep: "3" } }],
  ["run that needs an approval", "run", { workflow: "guarded", target: "node/worker-1" }],
  ["retry of an execution", "retry", { object: "failed" }],
  ["retry of an incident", "retry", { object: incident }],
  ["retry that needs an approval", "retry", { object: "guarded-failed" }],
];

describe.each(requests)("%s", (_, operation, request) => {
  it("has its effect once when it is sent twice, and answers the same", async () => {
    const world = await OperateWorld.open();
    const before = await world.objects();
    const first = await world.perform(operation, request);
    const changed = await world.objects();

    const second = await world.perform(operation, request);

    expect(second).toEqual(first);
    expect(changed).not.toEqual(before);
    expect(await world.objects()).toEqual(changed);
  });

  it("is unavailable when the reply is lost, and the repeated request answers as if it had been the first", async () => {
    const world = await OperateWorld.open();
    const attempt = world.perform(operation, request, { client: losingReplies(world.client) });
    await expect(attempt).rejects.toMatchObject({ name: "OperationError", code: "unavailable" });
    const changed = await world.objects();

    const repeated = await world.perform(operation, request);

    expect(await world.objects()).toEqual(changed);
    const other = await OperateWorld.open();
    expect(repeated).toEqual(await other.perform(operation, request));
  });

  it("has its effect once on two replicas at the same time, and both answer the same", async () => {
    const world = await OperateWorld.open();
    const alone = await OperateWorld.open();
    await alone.perform(operation, request);

    const [one, other] = await Promise.all([
      world.perform(operation, request),
      world.perform(operation, request, { client: slow(world.client) }),
    ]);

    expect(one).toEqual(other);
    expect(await world.objects()).toHaveLength((await alone.objects()).length);
    expect(await contents(world)).toEqual(await contents(alone));
  });

  it("changes nothing in a dry run, and describes what would be done", async () => {
    const world = await OperateWorld.open();
    const before = await world.objects();

    const { message, notes } = await world.perform(operation, { ...request, dryRun: true });

    expect(message).toContain("would ");
    expect(notes).toContain("this was a dry run: nothing was changed");
    expect(await world.objects()).toEqual(before);
  });

  it("fails in a dry run, too, where the API server refuses the write", async () => {
    const world = await OperateWorld.open();

    const attempt = world.perform(operation, { ...request, dryRun: true }, { client: readOnly(world.client) });

    await expect(attempt).rejects.toMatchObject({ code: "forbidden" });
  });
});

describe.each<readonly [string, OperationName, PartialRequest, ResourceType, string]>([
  ["ack of an execution", "ack", { object: "failed" }, workflowExecutions, "failed"],
  ["ack of an incident", "ack", { object: incident }, remediationRequests, incident],
  ["approve", "approve", { object: "rar-1" }, remediationApprovalRequests, "rar-1"],
  ["resume", "resume", { object: "freeze" }, automationPauses, "freeze"],
  ["cancel of an incident", "cancel", { object: incident }, remediationRequests, incident],
  ["retry of an incident", "retry", { object: incident }, remediationRequests, incident],
])("%s with the version that the caller saw", (_, operation, request, type, name) => {
  it("is performed at that version, and again when it is repeated", async () => {
    const world = await OperateWorld.open();
    const ifVersion = await world.version(type, name);

    const first = await world.perform(operation, { ...request, ifVersion });

    expect(await world.perform(operation, { ...request, ifVersion })).toEqual(first);
  });

  it("is a conflict if the object changed since, which has the state that it is in now, and changes nothing", async () => {
    const world = await OperateWorld.open();
    const ifVersion = await world.version(type, name);
    await world.client.patch(type, { namespace, name }, { merge: { metadata: { labels: { changed: "true" } } } });
    const before = await world.objects();

    const attempt = world.perform(operation, { ...request, ifVersion });

    await expect(attempt).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(new RegExp(`has changed since version ${ifVersion}: it is \\w+ now`)),
      hint: "read it and decide again",
      current: { metadata: { name, labels: { changed: "true" } } },
    });
    expect(await world.objects()).toEqual(before);
  });

  it("is performed without a version, although other writers change the object all the time", async () => {
    const world = await OperateWorld.open();

    const attempt = world.perform(operation, request, { client: busy(world.client, { type, name, times: 3 }) });

    await expect(attempt).resolves.toMatchObject({ message: expect.any(String) });
  });
});

it("calls a pause that has not ended active in a conflict", async () => {
  const world = await OperateWorld.open();

  const attempt = world.perform("resume", { object: "freeze", ifVersion: "1" });

  await expect(attempt).rejects.toMatchObject({ message: "freeze has changed since version 1: it is Active now" });
});

/** A client whose writes reach the server, but whose replies do not come back. */
function losingReplies(client: KubeClient): KubeClient {
  const lost = () => {
    throw new KubeError("unavailable", "the connection was lost");
  };
  return {
    ...client,
    create: (type, object, call) => client.create(type, object, call).then(lost),
    patch: (type, ref, patch, call) => client.patch(type, ref, patch, call).then(lost),
  };
}

/** A client whose answers take a few turns longer, so that its writes meet those of a faster one. */
function slow(client: KubeClient): KubeClient {
  return {
    ...client,
    get: async (type, ref, call) => later(await client.get(type, ref, call)),
    list: async (type, query, call) => later(await client.list(type, query, call)),
  };
}

async function later<T>(value: T): Promise<T> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  return value;
}

/** A client that may read everything, and change nothing. */
function readOnly(client: KubeClient): KubeClient {
  const refuse = async () => {
    throw new KubeError("forbidden", "you may not");
  };
  return { ...client, create: refuse, patch: refuse };
}

/** A client that meets another writer before each of its first writes. */
function busy(
  client: KubeClient,
  { type, name, times }: { readonly type: ResourceType; readonly name: string; readonly times: number },
): KubeClient {
  let left = times;
  return {
    ...client,
    async patch(kind, ref, patch, call) {
      if (left-- > 0) {
        const labels = { changed: String(left) };
        await client.patch(type, { namespace, name }, { merge: { metadata: { labels } } });
      }
      return client.patch(kind, ref, patch, call);
    },
  };
}

/** The objects without what differs between two servers. */
async function contents(world: OperateWorld): Promise<readonly string[]> {
  return (await world.objects()).map(({ metadata, ...object }) =>
    JSON.stringify([metadata.name, metadata.annotations ?? {}, object]).replaceAll(/"uid":"[^"]*"/g, '"uid":""'),
  );
}
