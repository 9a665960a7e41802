import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it, type TestContext } from "vitest";
import { parseAllDocuments } from "yaml";
import { actions, gitlabIssues, readInputs, runAction } from "../../src/actions/index.ts";
import {
  fromKubeconfig,
  httpClient,
  type KubeClient,
  type KubeObject,
  leases,
  type ResourceType,
} from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { notApplicable } from "../services/not-applicable.ts";
import { scenarios } from "./scenarios.ts";
import { workloadControllers } from "./workload-controllers.ts";

const clock = systemClock();
const random = systemRandom();
const runs = "kubernaut-workflows";

/**
 * The actions on the API server of a kubeconfig: with the shipped role of their service account, and without any. Controllers
 * are the cluster's own; on a bare API server, those of the tests. Deployments have no replicas: no image has to be pulled.
 */
export function actionsOnCluster(kubeconfig: string): void {
  describe("on the cluster of TEST_KUBECONFIG", { timeout: 120_000 }, () => {
    let client: KubeClient;
    const closing: (() => Promise<unknown>)[] = [];

    beforeAll(async () => {
      client = httpClient({ connection: await fromKubeconfig({ path: kubeconfig, env: process.env }), clock, random });
      const { kind } = await client.create(namespaces, { metadata: { name: runs } });
      if (kind === "created") closing.push(() => client.delete(namespaces, { name: runs }));
      const manager = { namespace: "kube-system", name: "kube-controller-manager" };
      if (await client.get(leases, manager)) return;
      const controllers = workloadControllers(client);
      closing.push(() => controllers.stop());
    }, 60_000);
    afterAll(async () => {
      for (const close of closing.reverse()) await close();
    });

    it.each(scenarios.filter(({ needsOwnNodes }) => !needsOwnNodes).map((one) => [one.target("ns"), one] as const))(
      "%s is acted on with the rights of the shipped role",
      async (_target, scenario) => {
        const namespace = await newNamespace();
        const gitlab = { url: "", token: "", issues: [] };
        const world = { client: withoutReplicas(client), namespace, gitlab };
        await scenario.prepare(world);

        const account = await installRole(scenario.action);
        const outcome = await act(scenario.action, scenario.target(namespace), account, scenario.parameters);

        expect(outcome).toMatchObject({ kind: "succeeded" });
        await scenario.check(world);
      },
    );

    it.each(scenarios.map((one) => [one.action, one.target("ns"), one] as const))(
      "%s on %s fails without a role, and names the rights",
      async (name, _target, scenario) => {
        const account = await accountNamed("interlock-without-rights");

        const outcome = await act(name, scenario.target("default"), account, scenario.parameters);

        expect(outcome).toMatchObject({
          kind: "failed",
          message: expect.stringMatching(/missing rights: cannot \w+ resource/),
        });
      },
    );

    it("leaves nodes, volumes and pods of a cluster alone", (test: TestContext) => {
      const own = scenarios.filter(({ needsOwnNodes }) => needsOwnNodes).map(({ action }) => action);
      notApplicable(test, `${[...new Set(own)].join(", ")} would change objects that are not the tests'`);
    });

    async function newNamespace(): Promise<string> {
      const made = await client.create(namespaces, { metadata: { generateName: "interlock-actions-" } });
      const name = made.kind === "created" ? (made.object.metadata.name ?? "") : "";
      closing.push(() => client.delete(namespaces, { name }));
      return name;
    }

    /** Applies rbac.yaml of an action, and returns a client with the token of its service account. */
    async function installRole(action: string): Promise<KubeClient> {
      const text = readFileSync(`workflows/${action}/rbac.yaml`, "utf8");
      for (const object of parseAllDocuments(text).map((one) => one.toJS() as KubeObject)) {
        const type = rbacType(object);
        await client.create(type, object);
        const { name = "", namespace: place } = object.metadata;
        closing.push(() => client.delete(type, place ? { name, namespace: place } : { name }));
      }
      return await tokenOf(`interlock-action-${action}`);
    }

    async function accountNamed(name: string): Promise<KubeClient> {
      await client.create(rbacType({ kind: "ServiceAccount" }), { metadata: { name, namespace: runs } });
      return await tokenOf(name);
    }

    async function tokenOf(name: string): Promise<KubeClient> {
      const type: ResourceType<TokenRequest> = {
        ...{ apiVersion: "v1", kind: "TokenRequest", namespaced: true },
        plural: `serviceaccounts/${name}/token`,
      };
      const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: { namespace: runs } };
      const made = await client.create(type, { ...request, spec: {} });
      const token = made.kind === "created" ? (made.object.status?.token ?? "") : "";
      const connection = await fromKubeconfig({ path: kubeconfig, env: process.env });
      return httpClient({ connection: { ...connection, credentials: { token } }, clock, random });
    }
  });
}

interface TokenRequest extends KubeObject {
  readonly spec: object;
  readonly status?: { readonly token?: string };
}

const namespaces: ResourceType = { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false };

function rbacType({ kind = "" }: Pick<KubeObject, "kind">): ResourceType {
  const apiVersion = kind === "ServiceAccount" ? "v1" : "rbac.authorization.k8s.io/v1";
  return { apiVersion, kind, plural: `${kind.toLowerCase()}s`, namespaced: !kind.startsWith("Cluster") };
}

/** Whatever is created has no replicas. */
function withoutReplicas(client: KubeClient): KubeClient {
  return {
    ...client,
    create(type, object, call) {
      const { spec } = object as KubeObject & { readonly spec?: { readonly replicas?: number } };
      const hasReplicas = type.kind === "Deployment" && spec?.replicas !== undefined;
      return client.create(type, hasReplicas ? { ...object, spec: { ...spec, replicas: 0 } } : object, call);
    },
  };
}

async function act(
  name: string,
  target: string,
  client: KubeClient,
  parameters: Readonly<Record<string, string>> = {},
) {
  const action = actions.find((one) => one.name === name);
  if (!action) throw new Error(`no action ${name}`);
  const env = { ...parameters, TARGET_RESOURCE: target, EXECUTION_UID: "execution-1", FENCE: "42" };
  const reading = readInputs(action, env);
  if (reading.kind === "invalid") throw new Error(reading.problems.join("; "));
  const deps = { client, issues: gitlabIssues(clock), clock, print: () => {}, pollMs: 200 };
  return await runAction(action, reading.inputs, deps);
}
