import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { openClient } from "../../../src/app/index.ts";
import { type KubeClient, type KubeObject, namespaces, type ResourceType } from "../../../src/kube/index.ts";
import {
  automationPauses,
  installCrds,
  remediationApprovalRequests,
  remediationRequests,
  remediationWorkflows,
  workflowExecutions,
} from "../../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { serverUnderTest, tokens } from "../../conformance/server-under-test.ts";
import { until } from "../../executor/processes/until.ts";
import { dieWithUs, end, waitForOutput } from "../../services/child.ts";
import { freePort } from "../../services/free-port.ts";
import { plainEnv } from "../../services/interlock.ts";
import { interlockProgram } from "../../services/program.ts";
import { tokenReviewServer } from "../../services/token-review-server.ts";

export const namespace = "kubernaut-system";

/** Part of every name and target of this run: it finds nothing that an earlier one left, and removes only its own. */
export const suffix = Date.now().toString(36);

interface ClusterUser {
  readonly name: string;
  readonly token: string;
}

interface ClusterUsers {
  /** May do everything. */
  readonly operator: ClusterUser;
  /** May only read. */
  readonly reader: ClusterUser;
  /** May do everything, and logs in at an identity provider. */
  readonly oidcUser: string;
}

export interface Cluster extends ClusterUsers {
  readonly kubeconfig: string;
  readonly client: KubeClient;
  /** Removes everything but the definitions of kinds. */
  close(): Promise<void>;
}

type Closing = (() => Promise<unknown>)[];

/** The embedded API server with a review of tokens in front. It lets the first user write, and the second read. */
export async function ownCluster(): Promise<Cluster> {
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
  const { client } = await openCluster(kubeconfig);
  const close = async () => {
    await review.close();
    await api.close();
    rmSync(directory, { recursive: true });
  };
  return { kubeconfig, client, operator, reader, oidcUser: operator.name, close };
}

/** Service accounts with the roles of Kubernetes itself stand for people. */
export async function realCluster(kubeconfig: string): Promise<Cluster> {
  const { client, closing } = await openCluster(kubeconfig);
  const bind = async (name: string, verbs: readonly string[], subjects: readonly object[]) => {
    const metadata = { name };
    const rules = [{ apiGroups: ["*"], resources: ["*"], verbs }];
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
    await client.create(clusterRoles, { metadata, rules } as KubeObject);
    await client.create(clusterRoleBindings, { metadata, roleRef, subjects } as KubeObject);
    for (const type of [clusterRoles, clusterRoleBindings]) closing.push(() => client.delete(type, metadata));
  };
  const addAccount = async (role: string, verbs: readonly string[]): Promise<ClusterUser> => {
    const name = `console-${role}-${suffix}`;
    const metadata = { name, namespace };
    await client.create(serviceAccounts, { metadata });
    closing.push(() => client.delete(serviceAccounts, metadata));
    await bind(name, verbs, [{ kind: "ServiceAccount", ...metadata }]);
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: { namespace }, spec: {} };
    const made = await client.create(tokenRequests(name), request);
    const token = made.kind === "created" ? ((made.object as TokenRequest).status?.token ?? "") : "";
    return { name: `system:serviceaccount:${namespace}:${name}`, token };
  };
  const operator = await addAccount("operator", ["*"]);
  const reader = await addAccount("reader", ["get", "list", "watch"]);
  const oidcUser = `kim-${suffix}`;
  await bind(
    `console-oidc-${suffix}`,
    ["*"],
    [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: oidcUser }],
  );
  const close = async () => {
    await removeOwn(client);
    for (const undo of closing.toReversed()) await undo();
  };
  return { kubeconfig, client, operator, reader, oidcUser, close };
}

async function openCluster(kubeconfig: string): Promise<{ readonly client: KubeClient; readonly closing: Closing }> {
  const client = await openClient(kubeconfig, { env: process.env, clock: systemClock(), random: systemRandom() });
  await installCrds(client);
  const closing: Closing = [];
  // A process outside of the cluster creates the namespaces that it needs; those that exist are not the tests'.
  for (const name of [namespace, "kubernaut-workflows", "interlock-watermarks"]) {
    const { kind } = await client.create(namespaces, { metadata: { name } });
    if (kind !== "created") continue;
    closing.push(async () => {
      await client.delete(namespaces, { name });
      await until(`${name} is gone`, async () => !(await client.get(namespaces, { name })), { withinMs: 60_000 });
    });
  }
  return { client, closing };
}

async function removeOwn(client: KubeClient): Promise<void> {
  const kinds: readonly ResourceType[] = [
    ...[automationPauses, remediationApprovalRequests, remediationRequests],
    ...[remediationWorkflows, workflowExecutions],
  ];
  for (const type of kinds) {
    const { items } = await client.list(type, { namespace });
    for (const object of items.filter((one) => JSON.stringify(one).includes(suffix))) {
      const ref = { namespace, name: object.metadata.name ?? "" };
      // No stage is there to record the end of a pause before it goes.
      await client.patch(type, ref, { merge: { metadata: { finalizers: null } } });
      await client.delete(type, ref);
    }
  }
}

interface TokenRequest extends KubeObject {
  readonly status?: { readonly token?: string };
}

function tokenRequests(account: string): ResourceType {
  return { apiVersion: "v1", kind: "TokenRequest", plural: `serviceaccounts/${account}/token`, namespaced: true };
}

const serviceAccounts: ResourceType = {
  ...{ apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true },
};
const rbac = { apiVersion: "rbac.authorization.k8s.io/v1", namespaced: false };
const clusterRoles: ResourceType = { ...rbac, kind: "ClusterRole", plural: "clusterroles" };
const clusterRoleBindings: ResourceType = { ...rbac, kind: "ClusterRoleBinding", plural: "clusterrolebindings" };

/** `interlock console` as a process of its own. */
export class ConsoleProcess {
  readonly url: string;
  readonly #args: readonly string[];
  readonly #directory: string;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | undefined;

  private constructor(url: string, args: readonly string[], directory: string, env: Readonly<Record<string, string>>) {
    this.url = url;
    this.#args = args;
    this.#directory = directory;
    this.#env = env;
  }

  /** `settings` are variables that depend on the address of the console. */
  static async start(
    kubeconfig: string,
    settings: (url: string) => Readonly<Record<string, string>>,
  ): Promise<ConsoleProcess> {
    const directory = mkdtempSync(join(tmpdir(), "interlock-console-"));
    // The same address after a restart: pages and cookies belong to it.
    const url = `http://127.0.0.1:${await freePort()}`;
    const args = [await interlockProgram(), "console", "--kubeconfig", kubeconfig, "--data", directory];
    const started = new ConsoleProcess(url, args, directory, settings(url));
    await started.launch();
    return started;
  }

  async launch(): Promise<void> {
    const listen = { CONSOLE_LISTEN: new URL(this.url).host, METRICS_LISTEN: "127.0.0.1:0" };
    const env = { ...plainEnv, ...listen, ...this.#env };
    this.#child = spawn(process.execPath, this.#args, { stdio: ["ignore", "pipe", "inherit"], env });
    dieWithUs(this.#child);
    await waitForOutput(this.#child, /console is running/);
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
