import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  applyCertificates,
  certificateDefinition,
  deleteCertificates,
} from "../../../test/doubles/certificate-definition.ts";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { type TestCluster, testCluster } from "../../../test/doubles/test-cluster.ts";
import { customResourceDefinitions, type KubeClient, KubeError, type Problem } from "../../kube/index.ts";
import { systemRandom } from "../../time/index.ts";
import { parseTarget } from "../target/parse-target.ts";
import { type KindsCache, watchKinds } from "./watch-kinds.ts";

const route = { kind: "Route", plural: "routes", group: "route.openshift.io", namespaced: true };

let clock: ManualClock;
let cluster: TestCluster;
let client: KubeClient;
let stop: AbortController;
let problems: Problem[];
beforeEach(() => {
  clock = new ManualClock();
  cluster = testCluster({ clock, random: systemRandom() });
  client = cluster.client();
  stop = new AbortController();
  problems = [];
});
afterEach(() => stop.abort());

describe("kinds while a process runs", () => {
  it("include a kind whose definition is applied later, and subscribers are notified", async () => {
    const kinds = await open();
    let changes = 0;
    kinds.subscribe(() => changes++);
    const before = kinds.current;

    await applyCertificates(client);
    await pass();

    expect(textOf("web/certs.cert-manager.io/shop", kinds)).toBeUndefined();
    expect(textOf("web/cert.cert-manager.io/shop", kinds)).toBe("web/certificate.cert-manager.io/shop");
    expect(before.find("certificate.cert-manager.io")).toBeUndefined();
    expect(changes).toBe(1);
  });

  it("no longer include a kind whose definition was deleted", async () => {
    await applyCertificates(client);
    const kinds = await open();
    let changes = 0;
    kinds.subscribe(() => changes++);
    expect(kinds.current.find("certificate.cert-manager.io")).toBeDefined();

    await deleteCertificates(client);
    await pass();

    expect(kinds.current.find("certificate.cert-manager.io")).toBeUndefined();
    expect(changes).toBe(1);
  });

  it("are one snapshot, without a notification, while only the status of definitions changes", async () => {
    await applyCertificates(client);
    await pass();
    const kinds = await open();
    await pass();
    let changes = 0;
    kinds.subscribe(() => changes++);
    const before = kinds.current;

    const status = { conditions: [{ type: "Established", status: "False", reason: "Testing" }] };
    const ref = { name: certificateDefinition.metadata.name ?? "" };
    await client.patch(customResourceDefinitions, ref, { merge: { status } }, { subresource: "status" });
    await pass();

    expect(kinds.current).toBe(before);
    expect(changes).toBe(0);
  });

  it("notify once of definitions that are applied together", async () => {
    const kinds = await open();
    let changes = 0;
    kinds.subscribe(() => changes++);

    for (let i = 0; i < 5; i++) await apply(`Thing${i}`);
    await pass();

    expect(kinds.current.find("thing4.example.com")).toBeDefined();
    expect(changes).toBe(1);
  });

  it("keep the names of a definition, not its schema", async () => {
    const read: unknown[] = [];
    await applyCertificates(client);
    const kinds = await open({
      ...client,
      list: (async (...call: Parameters<KubeClient["list"]>) => {
        const list = await client.list(...call);
        read.push(...list.items);
        return list;
      }) as KubeClient["list"],
    });

    expect(JSON.stringify(read)).toContain("openAPIV3Schema");
    expect(JSON.stringify(kinds.current.find("certificate.cert-manager.io"))).not.toContain("openAPIV3Schema");
    expect(kinds.current.find("certificate.cert-manager.io")).toMatchObject({ version: "v1", plural: "certificates" });
  });

  it("include declared kinds that have no definition", async () => {
    const kinds = await open();

    expect(textOf("web/routes.route.openshift.io/shop", kinds)).toBe("web/route.route.openshift.io/shop");
  });

  it("can be read from the server before the watch delivers a definition", async () => {
    const kinds = await open();
    const deaf = kinds.current;

    await applyCertificates(client);

    expect(deaf.find("certificate.cert-manager.io")).toBeUndefined();
    const fresh = await kinds.read(new AbortController().signal);
    expect(fresh.find("certificate.cert-manager.io")).toBeDefined();
  });
});

describe("kinds where definitions may not be read", () => {
  it.each(["list", "watch"] as const)(
    "are the built-in and declared ones if %s is forbidden, with one reported problem",
    async (verb) => {
      cluster.forbid(verb, "customresourcedefinitions");

      const kinds = await open();
      await clock.advance(600_000);

      await kinds.synced;
      expect(kinds.current.find("deploy")).toBeDefined();
      expect(kinds.current.find("route.route.openshift.io")).toBeDefined();
      expect(problems.map(({ kind }) => kind)).toEqual(["forbidden"]);
    },
  );

  it("explain an unknown kind with the missing permission", async () => {
    cluster.forbid("list", "customresourcedefinitions");

    const kinds = await open();

    expect(parseTarget("web/certificate.cert-manager.io/shop", kinds.current)).toMatchObject({
      problem: expect.stringMatching(
        /certificate\.cert-manager\.io.*grant get, list and watch on customresourcedefinitions/,
      ),
    });
    await expect(kinds.read(new AbortController().signal)).resolves.toBe(kinds.current);
  });

  it("are complete once the permission is granted, without a restart", async () => {
    await applyCertificates(client);
    let isForbidden = true;
    const kinds = await open({
      ...client,
      list: (async (...call: Parameters<KubeClient["list"]>) => {
        if (isForbidden) throw new KubeError("forbidden", "cannot list resource");
        return client.list(...call);
      }) as KubeClient["list"],
    });
    let changes = 0;
    kinds.subscribe(() => changes++);
    expect(kinds.current.find("certificate.cert-manager.io")).toBeUndefined();

    isForbidden = false;
    await clock.advance(120_000);

    expect(kinds.current.find("certificate.cert-manager.io")).toBeDefined();
    expect(kinds.current.incomplete).toBeUndefined();
    expect(changes).toBeGreaterThan(0);
  });
});

async function open(with_: KubeClient = client): Promise<KindsCache> {
  const options = { client: with_, declared: [route], clock, random: systemRandom(), signal: stop.signal };
  const kinds = watchKinds({ ...options, problem: (problem) => problems.push(problem) });
  await settle();
  await kinds.synced;
  return kinds;
}

/** Longer than changes are collected. */
async function pass(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await settle();
    await clock.advance(200);
  }
}

async function apply(kind: string): Promise<void> {
  const plural = `${kind.toLowerCase()}s`;
  await client.create(customResourceDefinitions, {
    ...certificateDefinition,
    metadata: { name: `${plural}.example.com` },
    spec: { ...certificateDefinition.spec, group: "example.com", names: { kind, plural } },
  });
}

function textOf(text: string, kinds: KindsCache): string | undefined {
  const reading = parseTarget(text, kinds.current);
  return reading.kind === "target" ? reading.target.text : undefined;
}
