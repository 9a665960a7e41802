import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import {
  type Action,
  type ActionOutcome,
  actions,
  gitlabIssues,
  readInputs,
  runAction,
} from "../../src/actions/index.ts";
import {
  fromKubeconfig,
  httpClient,
  type KubeClient,
  type KubeObject,
  leases,
  namespaces,
  type ResourceType,
} from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { until } from "../executor/processes/until.ts";
import { startGitLabIssues } from "./gitlab-issues-double.ts";
import { kubeletDouble, volumeName } from "./kubelet-double.ts";
import { make, makePod, pod, type Scenario, type ScenarioWorld, scenarios, testNode } from "./scenarios.ts";
import { types, workloadControllers } from "./workload-controllers.ts";

const clock = systemClock();
const random = systemRandom();
const runs = "kubernaut-workflows";
const gitlabSecret = { namespace: runs, name: "interlock-action-gitlab" };

/**
 * Every action on the API server of a kubeconfig, with the token of a service account: with the shipped role, with the shipped role
 * less one right, and with no role. Controllers are the cluster's own; on a bare API server, those of the tests. Pods run nowhere:
 * they have a scheduler that does not exist, or the tests' own node.
 */
export function actionsOnCluster(kubeconfig: string): void {
  describe("on the cluster of TEST_KUBECONFIG", { timeout: 120_000 }, () => {
    let client: KubeClient;
    let hasControllers = false;
    const closing: (() => Promise<unknown>)[] = [];
    const own: string[] = [];

    beforeAll(async () => {
      client = httpClient({ connection: await fromKubeconfig({ path: kubeconfig, env: process.env }), clock, random });
      // The action would open an issue in the real GitLab that it names.
      if (await client.get(types.secrets, gitlabSecret)) throw new Error(`the Secret ${gitlabSecret.name} is in use`);
      const { kind } = await client.create(namespaces, { metadata: { name: runs } });
      if (kind === "created") own.push(runs);
      closing.push(() => client.delete(types.nodes, { name: testNode }));
      hasControllers = Boolean(await client.get(leases, { namespace: "kube-system", name: "kube-controller-manager" }));
      if (hasControllers) return;
      const controllers = workloadControllers(client);
      closing.push(() => controllers.stop());
    }, 60_000);
    afterAll(async () => {
      for (const close of closing.reverse()) await close();
      for (const name of own) await client.delete(namespaces, { name });
      const isGone = async (name: string) => !(await client.get(namespaces, { name }));
      for (const name of own) await until(`${name} is gone`, () => isGone(name), { withinMs: 120_000 });
    }, 180_000);

    it.each(scenarios.map((one) => [one.action, one.target("ns"), one] as const))(
      "%s on %s acts with the rights of the shipped role",
      async (_action, _target, scenario) => {
        const world = await open();
        await scenario.prepare(world);
        const account = await shippedAccount(scenario.action);

        const outcome = await act(scenario, world, account);

        expect(outcome).toMatchObject({ kind: "succeeded" });
        await scenario.check(world);
      },
    );

    it("waits for a disruption budget before it evicts a stuck pod", async () => {
      const world = await open();
      await makePod(world, pod("web", { ready: false }));
      const budget = { namespace: world.namespace, name: "keep-web" };
      const spec = { minAvailable: 1, selector: { matchLabels: { app: "web" } } };
      await make(world, types.budgets, { metadata: { name: budget.name }, spec } as KubeObject);
      await until("the budget is counted", async () => {
        return (await client.get(types.budgets, budget))?.status?.desiredHealthy === 1;
      });
      const lines: string[] = [];
      const stuck = { action: "delete-stuck-pod", target: (namespace: string) => `${namespace}/pod/web-0` };
      const account = await shippedAccount(stuck.action);

      const running = act(stuck, world, account, lines);
      await until("it waits for the budget", () => lines.some((line) => line.includes(budget.name)));
      const during = await client.get(types.pods, { namespace: world.namespace, name: "web-0" });
      await client.delete(types.budgets, budget);

      expect(during?.metadata.labels).toHaveProperty("stuck");
      expect(await running).toMatchObject({ kind: "succeeded" });
    });

    it.each(
      scenarios.flatMap((one) => neededRights(one).map((right) => [one.action, right.text, one, right] as const)),
    )("%s fails with the shipped role less the right to %s, and names it", async (action, _text, scenario, right) => {
      const account = await accountWith(`interlock-test-${action}-${++accounts}`, shippedRole(action, { less: right }));

      const outcome = await until("the rest of the role is in effect", async () => {
        const made = await act(scenario, { namespace: "default" }, account);
        return made.message.includes("; ") ? undefined : made;
      });

      expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining(right.name) });
    });

    it.each(scenarios.map((one) => [one.action, one.target("ns"), one] as const))(
      "%s on %s fails without a role, and names the rights",
      async (_name, _target, scenario) => {
        const account = await accountWith(`interlock-test-without-role-${++accounts}`, []);

        const outcome = await act(scenario, { namespace: "default" }, account);

        expect(outcome.kind).toBe("failed");
        for (const { name } of neededRights(scenario)) expect(outcome.message).toContain(name);
      },
    );

    /** A namespace of its own, with what its pods and claims need. */
    async function open(): Promise<ScenarioWorld> {
      const made = await client.create(namespaces, { metadata: { generateName: "interlock-actions-" } });
      const namespace = made.kind === "created" ? (made.object.metadata.name ?? "") : "";
      own.push(namespace);
      closing.push(
        () => client.delete(types.storageClasses, { name: `fast-${namespace}` }),
        () => client.delete(types.volumes, { name: volumeName(namespace) }),
        () => client.delete(types.secrets, gitlabSecret),
      );
      if (hasControllers) {
        const account = { namespace, name: "default" };
        await until("pods may be created", () => client.get(types.serviceAccounts, account));
        const kubelet = kubeletDouble(client, namespace);
        closing.push(() => kubelet.stop());
      }
      const gitlab = await startGitLabIssues({ token: "secret", project: "group/ops" });
      closing.push(gitlab.close);
      return { client, namespace, gitlab: { ...gitlab, token: "secret" } };
    }

    /** A client with the token of the action's own service account, when its shipped role is in effect. */
    async function shippedAccount(action: string): Promise<KubeClient> {
      const account = await accountWith(`interlock-action-${action}`, shippedRole(action));
      const scenario = scenarios.find((one) => one.action === action) as Scenario;
      await until("the role is in effect", async () => {
        const dryRun = { ...scenario, parameters: { ...scenario.parameters, dryRun: "true" } };
        return !(await act(dryRun, { namespace: "default" }, account)).message.startsWith("missing rights");
      });
      return account;
    }

    async function accountWith(name: string, role: readonly KubeObject[]): Promise<KubeClient> {
      const own = { kind: "ServiceAccount", metadata: { name, namespace: runs } };
      for (const object of [own, ...role.map((one) => renamed(one, name))]) {
        const type = rbacType(object);
        const { kind } = await client.create(type, object);
        const { name: objectName = "", namespace } = object.metadata;
        const ref = namespace ? { name: objectName, namespace } : { name: objectName };
        if (kind === "created") closing.push(() => client.delete(type, ref));
      }
      const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: { namespace: runs } };
      const made = await client.create(tokenRequests(name), { ...request, spec: {} });
      const token = made.kind === "created" ? (made.object.status?.token ?? "") : "";
      const connection = await fromKubeconfig({ path: kubeconfig, env: process.env });
      return httpClient({ connection: { ...connection, credentials: { token } }, clock, random });
    }
  });
}

let accounts = 0;

interface NeededRight {
  readonly verb: string;
  readonly resource: string;
  readonly text: string;
  /** The beginning of the sentence in which Kubernetes names it. */
  readonly name: string;
}

/** One entry for each verb that the action needs on the scenario's target. */
function neededRights({ action, target }: Pick<Scenario, "action" | "target">): readonly NeededRight[] {
  const kind = target("ns").split("/").at(-2);
  const { rights } = actionNamed(action);
  return rights
    .filter(({ onlyFor = kind }) => onlyFor === kind)
    .flatMap(({ verbs, resource, group }) =>
      verbs.map((verb) => ({
        verb,
        resource,
        text: `${verb} ${resource}`,
        name: `cannot ${verb} resource "${resource}" in API group "${group}"`,
      })),
    );
}

interface RoleObject extends KubeObject {
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

/** Role and binding of rbac.yaml, if asked for less one right. */
function shippedRole(action: string, { less }: { readonly less?: NeededRight } = {}): readonly RoleObject[] {
  const text = readFileSync(`workflows/${action}/rbac.yaml`, "utf8");
  const objects = parseAllDocuments(text).map((one) => one.toJS() as RoleObject);
  return objects
    .filter(({ kind }) => kind !== "ServiceAccount")
    .map((object) =>
      object.rules ? { ...object, rules: object.rules.flatMap((rule) => withoutRight(rule, less)) } : object,
    );
}

function withoutRight<T extends { readonly resources: readonly string[]; readonly verbs: readonly string[] }>(
  rule: T,
  less: NeededRight | undefined,
): readonly T[] {
  const rules = rule.resources.map((resource) => {
    const verbs = rule.verbs.filter((verb) => verb !== less?.verb || resource !== less.resource);
    return { ...rule, resources: [resource], verbs };
  });
  return rules.filter(({ verbs }) => verbs.length > 0);
}

/** The object for the service account `account`, under its name. */
function renamed<T extends KubeObject>(object: T, account: string): T {
  const { name = "" } = object.metadata;
  return JSON.parse(JSON.stringify(object).replaceAll(`"${name}"`, `"${account}"`)) as T;
}

interface TokenRequest extends KubeObject {
  readonly spec: object;
  readonly status?: { readonly token?: string };
}

function tokenRequests(account: string): ResourceType<TokenRequest> {
  const type = { apiVersion: "v1", kind: "TokenRequest", namespaced: true };
  return { ...type, plural: `serviceaccounts/${account}/token` };
}

function rbacType({ kind = "" }: Pick<KubeObject, "kind">): ResourceType {
  const apiVersion = kind === "ServiceAccount" ? "v1" : "rbac.authorization.k8s.io/v1";
  return { apiVersion, kind, plural: `${kind.toLowerCase()}s`, namespaced: !kind.startsWith("Cluster") };
}

function actionNamed(name: string): Action {
  const action = actions.find((one) => one.name === name);
  if (!action) throw new Error(`no action ${name}`);
  return action;
}

async function act(
  { action: name, target, parameters }: Pick<Scenario, "action" | "target" | "parameters">,
  { namespace }: Pick<ScenarioWorld, "namespace">,
  client: KubeClient,
  lines: string[] = [],
): Promise<ActionOutcome> {
  const action = actionNamed(name);
  const env = { ...parameters, TARGET_RESOURCE: target(namespace), EXECUTION_UID: "execution-1", FENCE: "42" };
  const reading = readInputs(action, env);
  if (reading.kind === "invalid") throw new Error(reading.problems.join("; "));
  const print = (line: string) => lines.push(line);
  return await runAction(action, reading.inputs, { client, issues: gitlabIssues(clock), clock, print, pollMs: 200 });
}
