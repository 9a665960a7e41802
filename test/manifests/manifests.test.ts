import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/index.ts";
import type { KubeObject } from "../../src/kube/index.ts";
import {
  agentManifests,
  consoleManifests,
  manifests,
  permissions,
  stages,
  usualManifests,
} from "../../src/manifests/index.ts";
import { executionNamespace, installCrds, remediationRequests, resourceKinds } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { testCluster } from "../doubles/test-cluster.ts";

const all = [...[...manifests().values()].flat(), ...agentManifests(), ...consoleManifests()];

describe("the roles", () => {
  it("let only the executor write in the namespace of runs, except for acknowledgements on records", () => {
    const roles = all.filter(({ kind, metadata }) => kind === "Role" && metadata.namespace === executionNamespace);
    const deleting = roles.filter((role) => JSON.stringify(role).includes('"delete"'));

    expect(roles.map(({ metadata }) => metadata.name)).toEqual(["interlock-orchestrator", "interlock-executor"]);
    expect(deleting.map(({ metadata }) => metadata.name)).toEqual(["interlock-executor"]);
  });

  it("let only the agent into the namespace of its Jobs, and a Job only store its result there", () => {
    const roles = all.filter(({ kind, metadata }) => kind === "Role" && metadata.namespace === "kubernaut-agents");

    expect(roles.map(({ metadata }) => metadata.name)).toEqual(["interlock-coder", "interlock-agent"]);
    expect(roles[0]).toMatchObject({ rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }] });
  });

  it("give no right on runs and Leases outside their namespaces, and none on everything", () => {
    const wide = JSON.stringify(all.filter(({ kind }) => kind === "ClusterRole"));

    for (const resource of ["pipelineruns", "taskruns", "leases", "secrets", "*"]) {
      expect(wide).not.toContain(`"${resource}"`);
    }
  });

  it("name only kinds of ours that there are", () => {
    const plurals = resourceKinds.map(({ plural }) => plural);

    const given = stages.flatMap((stage) => permissions[stage].filter(({ group }) => group === "kubernaut.ai"));
    for (const { resources } of given) {
      for (const resource of resources) expect(plurals).toContain(resource.replace("/status", ""));
    }
  });

  it("are those of the stages' tests: a missing one is named", async () => {
    const client = testCluster({ clock: systemClock(), random: systemRandom(), namespaces: ["default"] }).client();
    await installCrds(client);

    const asking = permittedClient(client, "gateway").list(remediationRequests, { namespace: "default" });

    await expect(asking).rejects.toThrow(
      "interlock-gateway cannot list remediationrequests in kubernaut.ai in the namespace default",
    );
  });
});

describe("the deployments", () => {
  it.each(stages)("of the %s run as an unprivileged user, with probes", (stage) => {
    const pod = {
      serviceAccountName: `interlock-${stage}`,
      securityContext: { runAsNonRoot: true },
      containers: [
        {
          securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
          livenessProbe: { httpGet: { path: "/healthz" } },
          readinessProbe: { httpGet: { path: "/readyz" } },
        },
      ],
    };

    expect(found("Deployment", `interlock-${stage}`)).toMatchObject({
      spec: { replicas: stage === "console" ? 1 : usualManifests.replicas, template: { spec: pod } },
    });
    // A budget for a single replica would keep its node from being drained.
    const budget = found("PodDisruptionBudget", `interlock-${stage}`);
    if (stage === "console") expect(budget).toBeUndefined();
    else expect(budget).toMatchObject({ spec: { minAvailable: 1 } });
  });

  it("have the documented ConfigMaps", () => {
    expect(found("ConfigMap", "notification-config")).toBeDefined();
    expect(found("ConfigMap", "workflowexecution-config")).toBeDefined();
    expect(found("ConfigMap", "interlock-policy")).toMatchObject({
      data: { "policy.yaml": expect.stringContaining("resource_locking:\n  cooldown_period: 5m") },
    });
  });

  it.each([
    ["gateway", "gateway-config"],
    ["orchestrator", "remediationorchestrator-config"],
    ["executor", "workflowexecution-config"],
  ])("have one source of the policy for the %s", (stage, configMap) => {
    const deployment = JSON.stringify(found("Deployment", `interlock-${stage}`));
    const { data: own } = found("ConfigMap", configMap) as unknown as { data: Record<string, string> };
    const { data: shared } = found("ConfigMap", "interlock-policy") as unknown as { data: Record<string, string> };
    const yaml = { path: "interlock.yaml", text: own["interlock.yaml"] ?? "" };
    const policy = { path: "policy.yaml", text: (shared["policy.yaml"] ?? "").replace("5m", "7m") };

    const loaded = loadConfig({ yaml, policy, env: {} });

    expect(deployment).toContain('{"name":"INTERLOCK_POLICY","value":"/etc/interlock-policy/policy.yaml"}');
    expect(deployment).toContain('{"name":"policy","mountPath":"/etc/interlock-policy"}');
    expect(deployment).toContain('{"name":"policy","configMap":{"name":"interlock-policy"}}');
    expect(loaded.kind === "loaded" && loaded.config.execution.cooldownMs).toBe(420_000);
  });
});

describe("the secrets of the agent", () => {
  const mountOf = (stage: string) => /"agent-tokens","mountPath":"([^"]+)"/.exec(environment(stage))?.[1];
  const settings = (configMap: string) => {
    const { data } = found("ConfigMap", configMap) as unknown as { data: Record<string, string> };
    const loaded = loadConfig({ yaml: { path: "interlock.yaml", text: data["interlock.yaml"] ?? "" }, env: {} });
    return loaded.kind === "loaded" ? loaded.config : loaded;
  };
  const environment = (stage: string) => JSON.stringify(found("Deployment", `interlock-${stage}`));

  it("are the agent's, which does not start without them, and tokens are files, which change in place", () => {
    expect(environment("agent")).toContain('{"secretRef":{"name":"interlock-agent"}}');
    expect(environment("agent")).toContain('{"name":"agent-tokens","secret":{"secretName":"interlock-agent-tokens"}}');
    expect(settings("agent-config")).toMatchObject({
      gitlab: { tokenFile: `${mountOf("agent")}/gitlab-token` },
      jira: { apiTokenFile: `${mountOf("agent")}/jira-token` },
    });
  });

  it("are the gateway's as far as webhooks need them, if there are any: it has no token of GitLab", () => {
    const key = "GITLAB_URL";
    const valueFrom = { secretKeyRef: { name: "interlock-agent", key, optional: true } };
    const items = [{ key: "webhook-secret", path: "webhook-secret" }];
    const secret = { secretName: "interlock-agent-tokens", items, optional: true };

    expect(environment("gateway")).toContain(JSON.stringify({ name: key, valueFrom }));
    expect(environment("gateway")).toContain(JSON.stringify({ name: "agent-tokens", secret }));
    expect(settings("gateway-config")).toMatchObject({
      gitlab: { webhookSecretFile: `${mountOf("gateway")}/webhook-secret` },
    });
    expect(environment("gateway")).not.toMatch(/GITLAB_TOKEN|gitlab-token/);
  });

  it("are used by no other stage", () => {
    for (const stage of ["orchestrator", "executor", "notify"]) expect(environment(stage)).not.toContain("GITLAB");
  });
});

describe("a gateway with the Secret of a certificate", () => {
  it("mounts it, serves TLS with it, and is probed over HTTPS", () => {
    const objects = [...manifests({ ...usualManifests, gatewayTls: "gateway-tls" }).values()].flat();
    const of = (kind: string, name: string) =>
      JSON.stringify(objects.find((one) => one.kind === kind && one.metadata.name === name));

    expect(of("Deployment", "interlock-gateway")).toContain('{"name":"tls","secret":{"secretName":"gateway-tls"}}');
    expect(of("Deployment", "interlock-gateway")).toContain('{"name":"tls","mountPath":"/etc/interlock-tls"}');
    expect(of("Deployment", "interlock-gateway")).toContain('"path":"/readyz","port":"http","scheme":"HTTPS"');
    expect(of("ConfigMap", "gateway-config")).toContain(
      "tlsCertFile: /etc/interlock-tls/tls.crt\\n  tlsKeyFile: /etc/interlock-tls/tls.key",
    );
    expect(of("Deployment", "interlock-executor")).not.toContain("tls");
  });
});

describe("the configuration of each stage", () => {
  it.each(stages)("of the %s is understood, and does not call an emptyDir persistent", (stage) => {
    const deployment = JSON.stringify(found("Deployment", `interlock-${stage}`));
    const [, configMap = ""] = /"configMap":\{"name":"([^"]+)"/.exec(deployment) ?? [];
    const { data } = found("ConfigMap", configMap) as unknown as { data: Record<string, string> };

    const loaded = loadConfig({ yaml: { path: "interlock.yaml", text: data["interlock.yaml"] ?? "" }, env: {} });

    expect(loaded).toMatchObject({ kind: "loaded", config: { ledger: { volume: "ephemeral" } } });
    expect(deployment).toContain('{"name":"data","emptyDir":{}}');
  });
});

const kubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

describe.skipIf(!kubectl)("deploy", () => {
  it("is something that kustomize understands", () => {
    const stdout = kustomize("deploy");

    expect(stdout.match(/^kind: Deployment$/gm)).toHaveLength(stages.length - 2);
    expect(stdout.match(/^kind: CustomResourceDefinition$/gm)).toHaveLength(resourceKinds.length);
  });

  it("has the agent apart, for those who have a GitLab", () => {
    expect(kustomize("deploy/agent").match(/^kind: Deployment$/gm)).toHaveLength(1);
  });

  it("has the console apart, because it may act as any user", () => {
    expect(kustomize("deploy/console").match(/^kind: Deployment$/gm)).toHaveLength(1);
  });
});

function kustomize(path: string): string {
  const folder = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  return spawnSync("kubectl", ["kustomize", folder], { encoding: "utf8" }).stdout;
}

function found(kind: string, name: string): KubeObject | undefined {
  return all.find((one) => one.kind === kind && one.metadata.name === name);
}
