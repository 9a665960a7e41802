import { beforeEach, describe, expect, it } from "vitest";
import type { ServerContext } from "../../src/cli/command.ts";
import { type InstallArguments, install, upgrade, withHints } from "../../src/cli/commands/install/install.ts";
import { type UninstallArguments, uninstall } from "../../src/cli/commands/install/uninstall.ts";
import { noProgress } from "../../src/cli/output/progress.ts";
import { type KubeClient, KubeError, type KubeObject, refOf } from "../../src/kube/index.ts";
import { releaseKind, releaseObjects, usualManifests, version } from "../../src/manifests/index.ts";
import { type WorkflowExecution, workflowExecutions } from "../../src/resources/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { defineClusterKinds } from "../doubles/cluster-kinds.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { type TestCluster, testCluster } from "../doubles/test-cluster.ts";

const system = "kubernaut-system";
const objects = releaseObjects({ ...usualManifests, agent: false });
const gateway = objects.find(
  ({ kind, metadata }) => kind === "Deployment" && metadata.name === "interlock-gateway",
) as KubeObject;
const record = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: system, name: "interlock-release" } };
const tokens = { apiVersion: "v1", kind: "Secret", plural: "secrets", namespaced: true };

let cluster: TestCluster;
let client: KubeClient;
let lines: string[];
let clock: ManualClock;

beforeEach(async () => {
  clock = new ManualClock();
  cluster = testCluster({ clock, random: systemRandom() });
  client = cluster.client();
  lines = [];
  await defineClusterKinds(client);
});

describe("interlock install", () => {
  it("creates every object that interlock manifests prints, and prints one line for each, without any option", async () => {
    await run(install, {});

    for (const object of objects) expect(await live(object)).toMatchObject(object);
    for (const { kind, metadata } of objects) {
      expect(lines).toContain(`${kind} ${metadata.namespace ? `${metadata.namespace}/` : ""}${metadata.name} created`);
    }
    expect(lines).toContain(`Interlock ${version} is installed, with the image interlock:${version}.`);
  });

  it("creates definitions and namespaces before the objects that need them", async () => {
    await run(install, {});

    const kinds = lines.map((line) => line.split(" ")[0]);
    const order = ["CustomResourceDefinition", "Namespace", "ServiceAccount", "ConfigMap", "Deployment"];
    const firsts = order.map((kind) => kinds.indexOf(kind));
    expect(firsts).toEqual([...firsts].sort((one, other) => one - other));
  });

  it("creates a token for Alertmanager once, and keeps the tokens that are there", async () => {
    await run(install, {});
    const before = await client.get(tokens, { namespace: system, name: "interlock-gateway-tokens" });
    await run(install, {});

    const data = (before as unknown as { data: { tokens: string } }).data.tokens;
    expect(Buffer.from(data, "base64").toString()).toMatch(/^alertmanager \S{32,}\n$/);
    expect(await client.get(tokens, { namespace: system, name: "interlock-gateway-tokens" })).toEqual(before);
  });

  it("changes nothing when it is repeated", async () => {
    await run(install, {});
    const before = await Promise.all(objects.map(live));
    lines.length = 0;

    await run(install, {});

    expect(await Promise.all(objects.map(live))).toEqual(before);
    expect(lines.filter((line) => /created|updated/.test(line))).toEqual([]);
  });

  it.each([{ dryRun: true }, { diff: true }])("changes nothing with %o", async (given) => {
    await run(install, given);

    expect(await Promise.all(objects.map(live))).toEqual(objects.map(() => undefined));
    expect(lines).toContain(`Deployment ${system}/interlock-gateway would be created`);
  });

  it("prints each field that would change with --diff, and sets it back without", async () => {
    await run(install, {});
    await client.patch(releaseKind(gateway), refOf(gateway), {
      merge: { spec: { replicas: 7 }, metadata: { labels: { team: "ops" } } },
    });
    lines.length = 0;

    await run(install, { diff: true });
    expect(lines).toContain(`Deployment ${system}/interlock-gateway would be updated`);
    expect(lines).toContain("  spec.replicas: 7 -> 2");

    await run(install, {});
    expect(await live(gateway)).toMatchObject({ spec: { replicas: 2 }, metadata: { labels: { team: "ops" } } });
  });

  it("refuses to change an object of another tool, and changes nothing at all", async () => {
    await client.create(releaseKind(objects[0] as KubeObject), {
      ...(objects[0] as KubeObject),
      metadata: { name: objects[0]?.metadata.name ?? "" },
    });

    await expect(run(install, {})).rejects.toThrow(/nothing was changed.*belongs to another tool/s);
    expect(await live(gateway)).toBeUndefined();
  });

  it("refuses definitions in a newer format", async () => {
    await run(install, {});
    const [definition] = objects as [KubeObject];
    await client.patch(releaseKind(definition), refOf(definition), {
      merge: { metadata: { annotations: { "kubernaut.ai/format": "2" } } },
    });

    await expect(run(install, {})).rejects.toThrow("written by a newer version of Interlock");
  });

  it("uses a namespace that is there already, and leaves it alone", async () => {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: system } };
    await client.create(releaseKind(namespace), namespace);

    await run(install, {});

    expect(lines).toContain(`Namespace ${system} left alone`);
    expect((await live(namespace))?.metadata.labels?.["app.kubernetes.io/managed-by"]).toBeUndefined();
  });

  it("names a missing right, and is completed by a repetition with that right", async () => {
    const forbidden = testCluster({ clock, random: systemRandom() });
    await defineClusterKinds(forbidden.client());
    forbidden.forbid("create", "clusterroles");
    client = forbidden.client();

    await expect(run(install, {})).rejects.toThrow(/create.*clusterroles[\s\S]*Grant that right/);
  });

  it("on a server that is no cluster reports that, and how to name one", async () => {
    client = testCluster({ clock, random: systemRandom() }).client();

    await expect(run(install, { dryRun: true })).rejects.toThrow(/interlock up is none\.[\s\S]+--kubeconfig/);
    expect(lines).toEqual([]);
  });

  it("reports the same whichever of the missing kinds it reads first", async () => {
    const missing = new KubeError(
      "invalid",
      "404 page not found (are the networkpolicies of networking.k8s.io/v1 installed?)",
    );

    await expect(withHints(() => Promise.reject(missing))).rejects.toThrow("the API server of interlock up is none");
  });

  it("waits with --wait until every stage is available", async () => {
    const installing = install(serverContext(), { wait: true });
    await passTime(() => lines.includes("Deployment kubernaut-system/interlock-notify created"));
    expect(lines.some((line) => line.endsWith(" available"))).toBe(false);

    for (const object of objects.filter(({ kind }) => kind === "Deployment")) await makeAvailable(object);
    await finish(installing);

    expect(lines.filter((line) => line.endsWith(" available"))).toHaveLength(4);
    expect(lines.at(-1)).toBe("See whether it is healthy: interlock status");
  });

  it("fails with --wait when a stage does not become available, and names it", async () => {
    await expect(run(install, { wait: true, timeout: "1m" })).rejects.toThrow(
      /stages are not available[\s\S]*Deployment kubernaut-system\/interlock-gateway: /,
    );
  });
});

describe("interlock upgrade", () => {
  it("needs an installation", async () => {
    await expect(run(upgrade, {})).rejects.toThrow("run interlock install");
  });

  it("keeps the options of the installation, and the new version becomes the tag of its image", async () => {
    await run(install, { image: `registry.example/interlock:${version}`, replicas: "3" });
    await makeOlder("0.0.9", (text) => text.replaceAll(`interlock:${version}`, "interlock:0.0.9"));

    await run(upgrade, {});

    expect(await live(gateway)).toMatchObject({
      spec: { replicas: 3, template: { spec: { containers: [{ image: `registry.example/interlock:${version}` }] } } },
    });
  });

  it("asks for the image where the installed one does not name its version", async () => {
    await run(install, { image: `registry.example/interlock@sha256:${"ab".repeat(32)}` });
    await makeOlder("0.0.9");

    await expect(run(upgrade, {})).rejects.toThrow("--image is needed");
  });

  it("deletes the objects that the new version does not have, and install does not", async () => {
    await run(install, {});
    const stale = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: system, name: "of-an-older-version" } };
    await client.create(releaseKind(stale), stale);
    await makeOlder(version, (text) => text.replace(/^\[/, `[${JSON.stringify(stale)},`));

    await run(install, {});
    expect(await live(stale)).toBeDefined();
    await run(upgrade, {});
    expect(await live(stale)).toBeUndefined();
    expect(lines).toContain(`ConfigMap ${system}/of-an-older-version deleted`);
  });

  it("is what install asks for where another version is installed", async () => {
    await run(install, {});
    await makeOlder("0.0.9");

    await expect(run(install, {})).rejects.toThrow("Interlock 0.0.9 is installed here; run interlock upgrade");
  });
});

describe("interlock uninstall", () => {
  it("deletes what install created, and keeps kinds, namespaces and data", async () => {
    await run(install, {});
    await createExecution("Completed");

    await remove({});

    const left = (await Promise.all(objects.map(live))).flatMap((object) => (object ? [object.kind] : []));
    expect(new Set(left)).toEqual(new Set(["CustomResourceDefinition", "Namespace"]));
    expect((await client.list(workflowExecutions)).items).toHaveLength(1);
    expect(await live(record)).toBeUndefined();
  });

  it("changes nothing with --dry-run", async () => {
    await run(install, {});
    const before = await Promise.all(objects.map(live));

    await remove({ dryRun: true, purge: true });

    expect(await Promise.all(objects.map(live))).toEqual(before);
    expect(lines).toContain(`Deployment ${system}/interlock-gateway would be deleted`);
  });

  it("is refused while executions run, unless --force is given", async () => {
    await run(install, {});
    await createExecution("New");

    await expect(remove({})).rejects.toThrow(/1 executions are not finished[\s\S]*default\/wfe-1/);
    expect(await live(gateway)).toBeDefined();
    await remove({ force: true });
    expect(await live(gateway)).toBeUndefined();
  });

  it("asks before it deletes kinds and data, and deletes nothing without a yes", async () => {
    await run(install, {});

    await expect(remove({ purge: true })).rejects.toThrow("--purge needs --yes");
    await expect(remove({ purge: true }, "no")).rejects.toThrow("nothing was deleted");
    expect(await live(gateway)).toBeDefined();
  });

  it("deletes kinds, namespaces and all objects with --purge, also those that wait for a stage", async () => {
    await run(install, {});
    await createExecution("Completed", ["kubernaut.ai/cleanup"]);

    await remove({ purge: true }, "yes");
    for (const object of objects) {
      const left = await live(object);
      expect(left === undefined || left.metadata.deletionTimestamp !== undefined, JSON.stringify(left?.metadata)).toBe(
        true,
      );
    }
  });

  it("keeps a namespace that was there before", async () => {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: system } };
    await client.create(releaseKind(namespace), namespace);
    await run(install, {});

    await remove({ purge: true, yes: true });

    expect(await live(namespace)).toMatchObject({ metadata: { name: system } });
  });

  it("reports that there is nothing", async () => {
    await expect(remove({})).rejects.toThrow(`no installation in the namespace ${system}`);
  });
});

function run(command: typeof install, args: InstallArguments): Promise<void> {
  return finish(command(serverContext(), args));
}

function remove(args: UninstallArguments, answer?: string): Promise<void> {
  return finish(uninstall(serverContext(answer), args));
}

function serverContext(answer?: string): ServerContext {
  const terminal = {
    print: (line: string) => void lines.push(line),
    progress: noProgress,
    ...(answer !== undefined && { ask: async () => answer }),
  };
  const parts = { client, terminal, clock, random: systemRandom(), interrupted: () => new AbortController().signal };
  return parts as unknown as ServerContext;
}

function live(object: KubeObject): Promise<KubeObject | undefined> {
  return client.get(releaseKind(object), refOf(object));
}

/** Changes the record of the installation into that of another version. */
async function makeOlder(version: string, objects: (text: string) => string = (text) => text): Promise<void> {
  const found = (await live(record)) as unknown as { data: { options: string; objects: string } };
  const data = { version, options: objects(found.data.options), objects: objects(found.data.objects) };
  await client.patch(releaseKind(record), refOf(record), { merge: { data } });
}

/** What the controllers of a cluster do. */
async function makeAvailable(object: KubeObject): Promise<void> {
  const { generation } = (await live(object))?.metadata ?? {};
  const status = { observedGeneration: generation, updatedReplicas: 2, availableReplicas: 2 };
  await client.patch(releaseKind(object), refOf(object), { merge: { status } }, { subresource: "status" });
}

/** Lets time pass until the command has ended. */
async function finish<T>(work: Promise<T>): Promise<T> {
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  work.then(end, end);
  await passTime(() => hasEnded);
  return work;
}

async function passTime(isOver: () => boolean): Promise<void> {
  for (let i = 0; i < 5_000 && !isOver(); i++) {
    await clock.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Without a status it is one that an executor has not begun with. */
async function createExecution(phase: "New" | "Completed", finalizers: readonly string[] = []): Promise<void> {
  const ref = { namespace: "default", name: "wfe-1" };
  const workflowRef = { workflowId: "restart", version: "1", containerImage: "registry.example/restart:1" };
  const spec = { workflowRef, targetResource: "node/worker-1" };
  await client.create(workflowExecutions, { metadata: { ...ref, finalizers }, spec } as unknown as WorkflowExecution);
  if (phase === "New") return;
  const time = "2026-11-16T14:00:00Z";
  const pipelineRunRef = { name: "wfe-1", namespace: "kubernaut-workflows", uid: "uid-1", kind: "PipelineRun" };
  const end = { startTime: time, completionTime: time, duration: "0s", pipelineRunRef, outcome: "Success" };
  await client.patch(workflowExecutions, ref, { merge: { status: { phase, ...end } } }, { subresource: "status" });
}
