import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { openClient } from "../../../src/app/index.ts";
import { type KubeClient, type KubeObject, namespaces, type ResourceType } from "../../../src/kube/index.ts";
import { automationPauses, installCrds, remediationRequests } from "../../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { serverUnderTest, tokens } from "../../conformance/server-under-test.ts";
import { dieWithUs, end, heard } from "../../services/child.ts";
import { startChromium } from "../../services/chromium.ts";
import { freePort } from "../../services/free-port.ts";
import { plainEnv } from "../../services/interlock.ts";
import { interlockProgram } from "../../services/program.ts";
import { tokenReviewServer } from "../../services/token-review-server.ts";
import { dataShown, openPath } from "./console-pages.ts";

// In a real cluster, whose kubeconfig has all rights: TEST_KUBECONFIG=FILE npm test -- console/browser/cluster
const { TEST_KUBECONFIG: given } = process.env;

const namespace = "kubernaut-system";
/** Kubernetes accepts no second name; a run does not find what an earlier one left. */
const suffix = Date.now().toString(36);

describe(`the console of a cluster, on ${given ? "the cluster of TEST_KUBECONFIG" : "interlock's API server"}`, () => {
  let cluster: Cluster;
  let console: ConsoleProcess;
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    [cluster, browser] = await Promise.all([given ? realCluster(given) : ownCluster(), startChromium()]);
    console = await ConsoleProcess.start(cluster.kubeconfig);
    page = await signIn(cluster.operator.token);
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await console.stop();
    await cluster.close();
  });

  it("shows an incident as soon as it is there, to a user who logged in with a token of Kubernetes", async () => {
    await openPath(page, "/");

    await createIncident("LiveInCluster");

    await page.getByRole("link", { name: "LiveInCluster" }).waitFor();
    expect(await page.locator(".user > summary").textContent()).toContain(cluster.operator.name);
  });

  it("acts in the name of the user, once for two clicks", async () => {
    await openPath(page, "/pauses");
    await page.getByRole("button", { name: "Pause…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Scope").fill(`namespace paused-${suffix}`);
    await dialog.getByLabel("Reason").fill("release 7");

    await dialog.getByRole("button", { name: "Pause", exact: true }).dblclick();
    await dialog.waitFor({ state: "detached" });

    await page.getByText(`namespace paused-${suffix}`, { exact: true }).waitFor();
    const { items } = await cluster.client.list(automationPauses);
    const own = items.filter(({ spec }) => JSON.stringify(spec).includes(`paused-${suffix}`));
    expect(own.map(({ spec }) => [spec.reason, spec.requestedBy])).toEqual([["release 7", cluster.operator.name]]);
  });

  it("shows no button for what the roles of Kubernetes forbid, and is refused by the API server", async () => {
    const reader = await signIn(cluster.reader.token);
    await openPath(reader, "/");
    await reader.getByRole("link", { name: "LiveInCluster" }).waitFor();

    const buttons = await reader.locator("main").getByRole("button").allTextContents();
    const status = await reader.evaluate<number>(`fetch("/api/v1/operations/pause", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ scope: ["all"], reason: "x", key: "reader-tries-to-pause" }),
    }).then(({ status }) => status)`);

    expect(buttons.filter((label) => /Pause|Cancel|Approve|Acknowledge|Resume|Retry/.test(label))).toEqual([]);
    expect(status).toBe(403);
  });

  it("is current again after kill -9 and a restart, with the same session", async () => {
    await openPath(page, "/");

    await console.crash();
    await page.getByText(/This page is \d+s old/).waitFor();
    await console.launch();

    await page.getByText(/This page is \d+s old/).waitFor({ state: "detached" });
    await createIncident("AfterRestart");
    await page.getByRole("link", { name: "AfterRestart" }).waitFor();
  });

  async function signIn(token: string): Promise<Page> {
    const context = await browser.newContext();
    context.setDefaultTimeout(30_000);
    const opened = await context.newPage();
    await opened.goto(console.url);
    await opened.getByText("Sign in with a token").click();
    await opened.getByLabel("Token of the API server").fill(token);
    await opened.getByRole("button", { name: "Sign in" }).click();
    await opened.getByRole("heading", { name: "Now" }).waitFor();
    await dataShown(opened);
    return opened;
  }

  async function createIncident(signalName: string): Promise<void> {
    const name = `rr-${signalName.toLowerCase()}-${suffix}`;
    const receivedTime = new Date().toISOString();
    await cluster.client.create(remediationRequests, {
      metadata: { name, namespace },
      spec: {
        signalFingerprint: name.padEnd(64, "0").replace(/[^0-9a-f]/g, "0"),
        signalName,
        signalSource: "generic",
        severity: "warning",
        targetResource: { kind: "Node", name: "worker-1" },
        firingTime: receivedTime,
        receivedTime,
      },
    });
    cluster.closing.push(() => cluster.client.delete(remediationRequests, { namespace, name }));
  }
});

interface ClusterUser {
  readonly name: string;
  readonly token: string;
}

interface Cluster {
  readonly kubeconfig: string;
  readonly client: KubeClient;
  readonly operator: ClusterUser;
  readonly reader: ClusterUser;
  /** What is undone at the end. */
  readonly closing: (() => Promise<unknown>)[];
  close(): Promise<void>;
}

/** The embedded API server with a review of tokens in front. It lets the first user write, and the second read. */
async function ownCluster(): Promise<Cluster> {
  const operator = { name: "interlock-admin", token: "token-of-the-operator" };
  const reader = { name: "interlock-reader", token: "token-of-the-reader" };
  const users = [operator, reader].map(
    ({ name, token }) => [token, { username: name, groups: ["system:authenticated"] }] as const,
  );
  const api = await serverUnderTest();
  const review = await tokenReviewServer(api.url, Object.fromEntries(users));
  const directory = mkdtempSync(join(tmpdir(), "interlock-cluster-"));
  const kubeconfig = join(directory, "kubeconfig");
  const named = { name: "test" };
  writeFileSync(
    kubeconfig,
    stringify({
      ...{ apiVersion: "v1", kind: "Config", "current-context": "test" },
      clusters: [{ ...named, cluster: { server: review.url } }],
      users: [{ ...named, user: { token: tokens.admin } }],
      contexts: [{ ...named, context: { cluster: "test", user: "test" } }],
    }),
  );
  const cluster = await openCluster(kubeconfig, { operator, reader });
  cluster.closing.push(
    async () => rmSync(directory, { recursive: true }),
    () => api.close(),
    () => review.close(),
  );
  return cluster;
}

/** Service accounts with the roles of Kubernetes itself stand for people. */
async function realCluster(kubeconfig: string): Promise<Cluster> {
  const [operator, reader] = [`console-operator-${suffix}`, `console-reader-${suffix}`];
  const { client, closing } = await openCluster(kubeconfig);
  const bind = async (account: string, role: object) => {
    const metadata = { name: account, namespace };
    await client.create(coreType("ServiceAccount", "v1"), { metadata });
    const subjects = [{ kind: "ServiceAccount", name: account, namespace }];
    await client.create(clusterRoles, { metadata: { name: account }, ...role });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: account };
    const binding = { metadata: { name: account }, roleRef, subjects };
    await client.create(clusterRoleBindings, binding);
    for (const type of [clusterRoleBindings, clusterRoles]) closing.push(() => client.delete(type, { name: account }));
    closing.push(() => client.delete(coreType("ServiceAccount", "v1"), metadata));
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: { namespace }, spec: {} };
    const made = await client.create(tokenRequests(account), request);
    const token = made.kind === "created" ? ((made.object as TokenRequest).status?.token ?? "") : "";
    return { name: `system:serviceaccount:${namespace}:${account}`, token };
  };
  const rules = (verbs: readonly string[]) => ({ rules: [{ apiGroups: ["*"], resources: ["*"], verbs }] });
  const users = {
    operator: await bind(operator, rules(["*"])),
    reader: await bind(reader, rules(["get", "list", "watch"])),
  };
  return clusterOf(kubeconfig, client, users, closing);
}

async function openCluster(
  kubeconfig: string,
  users: Pick<Cluster, "operator" | "reader"> = { operator: unknownUser, reader: unknownUser },
): Promise<Cluster> {
  const client = await openClient(kubeconfig, { env: process.env, clock: systemClock(), random: systemRandom() });
  await installCrds(client);
  for (const name of [namespace, "kubernaut-workflows"]) await client.create(namespaces, { metadata: { name } });
  return clusterOf(kubeconfig, client, users, []);
}

const unknownUser: ClusterUser = { name: "", token: "" };

function clusterOf(
  kubeconfig: string,
  client: KubeClient,
  users: Pick<Cluster, "operator" | "reader">,
  closing: Cluster["closing"],
): Cluster {
  const close = async () => {
    for (const undo of closing.toReversed()) await undo();
  };
  return { kubeconfig, client, ...users, closing, close };
}

interface TokenRequest extends KubeObject {
  readonly status?: { readonly token?: string };
}

function tokenRequests(account: string): ResourceType {
  return { apiVersion: "v1", kind: "TokenRequest", plural: `serviceaccounts/${account}/token`, namespaced: true };
}

function coreType(kind: string, apiVersion: string): ResourceType {
  return { apiVersion, kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
}

const clusterRoles: ResourceType = {
  ...coreType("ClusterRole", "rbac.authorization.k8s.io/v1"),
  namespaced: false,
};
const clusterRoleBindings: ResourceType = {
  ...coreType("ClusterRoleBinding", "rbac.authorization.k8s.io/v1"),
  namespaced: false,
};

/** `interlock console` as a process of its own. */
class ConsoleProcess {
  readonly url: string;
  readonly #args: readonly string[];
  readonly #directory: string;
  #child: ChildProcess | undefined;

  private constructor(url: string, args: readonly string[], directory: string) {
    this.url = url;
    this.#args = args;
    this.#directory = directory;
  }

  static async start(kubeconfig: string): Promise<ConsoleProcess> {
    const directory = mkdtempSync(join(tmpdir(), "interlock-console-"));
    // The same address after a restart: pages and cookies belong to it.
    const url = `http://127.0.0.1:${await freePort()}`;
    const args = [await interlockProgram(), "console", "--kubeconfig", kubeconfig, "--data", directory];
    const started = new ConsoleProcess(url, args, directory);
    await started.launch();
    return started;
  }

  async launch(): Promise<void> {
    const env = { ...plainEnv, CONSOLE_LISTEN: new URL(this.url).host, METRICS_LISTEN: "127.0.0.1:0" };
    this.#child = spawn(process.execPath, this.#args, { stdio: ["ignore", "pipe", "inherit"], env });
    dieWithUs(this.#child);
    await heard(this.#child, /console is running/);
  }

  /** Ends it with kill -9. */
  async crash(): Promise<void> {
    if (this.#child) await end(this.#child, "SIGKILL");
  }

  async stop(): Promise<void> {
    await this.crash();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
