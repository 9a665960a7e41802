import type { KubeClient } from "../../src/kube/index.ts";
import { type CustomResourceDefinition, customResourceDefinitions } from "../../src/resources/index.ts";

/** Kinds that every cluster has and the embedded API server refuses or lacks, because it would not act on them. */
const kinds = [
  ["rbac.authorization.k8s.io", "Role", "roles", true],
  ["rbac.authorization.k8s.io", "RoleBinding", "rolebindings", true],
  ["rbac.authorization.k8s.io", "ClusterRole", "clusterroles", false],
  ["rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", false],
  ["admissionregistration.k8s.io", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", false],
  ["admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", false],
  ["networking.k8s.io", "NetworkPolicy", "networkpolicies", true],
  ["policy", "PodDisruptionBudget", "poddisruptionbudgets", true],
] as const;

/** Makes the embedded API server store those kinds, so that it accepts everything that a cluster accepts of an installation. */
export async function defineClusterKinds(client: KubeClient): Promise<void> {
  for (const [group, kind, plural, namespaced] of kinds) {
    const definition: CustomResourceDefinition = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}`, annotations: { "api-approved.kubernetes.io": "unapproved, test only" } },
      spec: {
        group,
        scope: namespaced ? "Namespaced" : "Cluster",
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
          },
        ],
      },
    };
    await client.create(customResourceDefinitions, definition);
  }
}
