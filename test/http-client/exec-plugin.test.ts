import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { selfSigned } from "../../src/apiserver/self-signed.ts";
import { openClient } from "../../src/app/index.ts";
import { type KubeClient, namespaces } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";
import { tlsFront } from "./tls-front.ts";

const clock = systemClock();
const random = systemRandom();
let folder: string;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "interlock-exec-"));
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await rm(folder, { recursive: true });
});

describe("a client whose kubeconfig names an exec plugin", () => {
  it("calls the server with the token that the plugin prints", async () => {
    await writeCredential({ token: tokens.admin });
    const { client } = await connect();

    expect(await listNamespaces(client)).toContain("default");
    expect(await listNamespaces(client)).toContain("default");
    expect(await runs()).toBe(1);
  });

  it("runs the plugin again when the server refuses the token, once for all calls", async () => {
    await writeCredential({ token: "expired-token" });
    const { client } = await connect();
    await writeCredential({ token: tokens.admin });

    const lists = await Promise.all([1, 2, 3].map(() => listNamespaces(client)));

    for (const list of lists) expect(list).toContain("default");
    expect(await runs()).toBe(2);
  });

  it("fails when the server refuses the new token too", async () => {
    await writeCredential({ token: "expired-token" });
    const { client } = await connect();

    await expect(listNamespaces(client)).rejects.toMatchObject({ code: "forbidden" });
    expect(await runs()).toBe(2);
  });

  it("presents the client certificate that the plugin prints", async () => {
    const identity = selfSigned(["client"], clock.wallMs(), random);
    await writeCredential({
      token: tokens.admin,
      clientCertificateData: identity.certificate,
      clientKeyData: identity.key,
    });
    const { client } = await connect(identity);

    expect(await listNamespaces(client)).toContain("default");
  });

  it("fails with the error of the plugin before any call", async () => {
    await expect(connect()).rejects.toThrow(
      /exec plugin "\.\/plugin" of kubeconfig user "me" failed \(exit status 1\); run it by hand/,
    );
  });
});

/** An embedded server behind TLS, and a client whose plugin prints the file `credential`. */
async function connect(clients?: Parameters<typeof tlsFront>[1]) {
  const server = await serverUnderTest();
  const front = await tlsFront(Number(new URL(server.url).port), clients);
  closers.push(
    () => front.close(),
    () => server.close(),
  );
  await writeFile(join(folder, "plugin"), '#!/bin/sh\ncd "$1"; echo x >> runs; cat credential 2>/dev/null\n');
  await chmod(join(folder, "plugin"), 0o755);
  const exec = { apiVersion, command: "./plugin", args: [folder], interactiveMode: "Never" };
  const ca = Buffer.from(front.certificate).toString("base64");
  const kubeconfig = {
    "current-context": "here",
    contexts: [{ name: "here", context: { cluster: "here", user: "me" } }],
    clusters: [{ name: "here", cluster: { server: front.url, "certificate-authority-data": ca } }],
    users: [{ name: "me", user: { exec } }],
  };
  const path = join(folder, "kubeconfig");
  await writeFile(path, JSON.stringify(kubeconfig));
  return { client: await openClient(path, { env: process.env, clock, random }) };
}

const apiVersion = "client.authentication.k8s.io/v1";

async function writeCredential(status: object): Promise<void> {
  await writeFile(join(folder, "credential"), JSON.stringify({ apiVersion, kind: "ExecCredential", status }));
}

async function runs(): Promise<number> {
  return (await readFile(join(folder, "runs"), "utf8")).length / 2;
}

async function listNamespaces(client: KubeClient) {
  return (await client.list(namespaces)).items.map(({ metadata }) => metadata.name);
}
