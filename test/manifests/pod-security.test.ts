import { describe, expect, it } from "vitest";
import { coderJob } from "../../src/agent/coder/job/coder-job.ts";
import { jobFor } from "../../src/engines/job/manifest.ts";
import { pipelineRunFor } from "../../src/engines/tekton/manifest.ts";
import { agentManifests, manifests } from "../../src/manifests/index.ts";
import { executionNamespace } from "../../src/resources/index.ts";
import { runOrder } from "../engines/run-order.ts";

describe("Pod Security", () => {
  it("restricted is enforced, audited and warned of where workflows and coders run, and only there", () => {
    const namespaces = [...[...manifests().values()].flat(), ...agentManifests()].filter(
      ({ kind }) => kind === "Namespace",
    );
    const levels = ({ metadata }: (typeof namespaces)[number]) =>
      Object.entries(metadata.labels ?? {}).filter(([key]) => key.startsWith("pod-security.kubernetes.io/"));
    const restricted = namespaces.filter((one) => levels(one).length > 0);

    expect(restricted.map(({ metadata }) => metadata.name).sort()).toEqual(["kubernaut-agents", executionNamespace]);
    for (const namespace of restricted) {
      expect(levels(namespace)).toEqual([
        ["pod-security.kubernetes.io/enforce", "restricted"],
        ["pod-security.kubernetes.io/audit", "restricted"],
        ["pod-security.kubernetes.io/warn", "restricted"],
      ]);
    }
  });

  it("restricted admits the pod of the Job engine", () => {
    expect(restrictedProblems(jobFor(runOrder()).spec.template.spec)).toEqual([]);
  });

  it("restricted admits the pod of a coder", () => {
    const job = coderJob("coder-1", "uid", {
      ...{ namespace: "kubernaut-agents", command: ["agent"], image: "agent:1", ownImage: "interlock:1" },
      ...{ secret: "model", tokenSecret: "gitlab", serviceAccount: "interlock-coder", gitlabUrl: "https://gitlab" },
      ...{ timeoutMs: 60_000, maxDiskBytes: 1, network: "none", resources: { cpu: "1", memory: "1Gi" } },
    });

    expect(restrictedProblems((job as unknown as { spec: { template: { spec: Pod } } }).spec.template.spec)).toEqual(
      [],
    );
  });

  it("restricted accepts the pod settings of a PipelineRun; steps are Tekton's", () => {
    const { podTemplate } = pipelineRunFor(runOrder()).spec.taskRunTemplate ?? {};

    expect(restrictedProblems({ ...(podTemplate as Pod), containers: [] })).toEqual([]);
  });

  it.each<[string, Pod, string]>([
    ["as root", { containers: [] }, "pod: runAsNonRoot"],
    ["without a seccomp profile", { securityContext: { runAsNonRoot: true }, containers: [] }, "pod: seccompProfile"],
    ["with all capabilities", { containers: [{ name: "a", securityContext: {} }] }, "a: capabilities"],
    ["with privileges to gain", { containers: [{ name: "a" }] }, "a: allowPrivilegeEscalation"],
    ["in the network of the node", { hostNetwork: true, containers: [] }, "pod: hostNetwork"],
    ["with a folder of the node", { volumes: [{ name: "v", hostPath: {} }], containers: [] }, "volume v"],
  ])("restricted refuses a pod %s", (_what, pod, problem) => {
    expect(restrictedProblems(pod)).toContain(problem);
  });
});

interface Pod {
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly securityContext?: object;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly object[];
}

interface Container {
  readonly name: string;
  readonly securityContext?: object;
}

interface Context {
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seccompProfile?: { readonly type: string };
  readonly privileged?: boolean;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
}

/** The rules of the profile `restricted` in the Pod Security Standards of Kubernetes, as far as our pods set such fields. */
function restrictedProblems(pod: Pod): readonly string[] {
  const context = (pod.securityContext ?? {}) as Context;
  const host = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((field) => pod[field]);
  const problems = host.map((field) => `pod: ${field}`);
  if (context.runAsNonRoot !== true || context.runAsUser === 0) problems.push("pod: runAsNonRoot");
  if (!["RuntimeDefault", "Localhost"].includes(context.seccompProfile?.type ?? ""))
    problems.push("pod: seccompProfile");
  for (const volume of pod.volumes ?? []) {
    if (!volumeTypes.some((type) => type in volume)) problems.push(`volume ${Reflect.get(volume, "name")}`);
  }
  for (const { name, securityContext } of [...(pod.initContainers ?? []), ...pod.containers]) {
    const own = (securityContext ?? {}) as Context;
    if (own.runAsNonRoot === false || own.runAsUser === 0) problems.push(`${name}: runAsNonRoot`);
    if (own.seccompProfile?.type === "Unconfined") problems.push(`${name}: seccompProfile`);
    if (own.privileged) problems.push(`${name}: privileged`);
    if (own.allowPrivilegeEscalation !== false) problems.push(`${name}: allowPrivilegeEscalation`);
    const added = (own.capabilities?.add ?? []).filter((capability) => capability !== "NET_BIND_SERVICE");
    if (!own.capabilities?.drop?.includes("ALL") || added.length > 0) problems.push(`${name}: capabilities`);
  }
  return problems;
}

const volumeTypes = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
];
