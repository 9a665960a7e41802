import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import { customResourceDefinitions } from "../../src/resources/index.ts";

const plurals = {
  ValidatingAdmissionPolicy: "validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings",
} as const;

/** The embedded server keeps admission policies once they are defined; it does not enforce them. */
export async function defineAdmissionPolicies(client: KubeClient): Promise<void> {
  for (const kind of Object.keys(plurals)) await client.create(customResourceDefinitions, definitionOf(kind) as never);
}

export async function putAdmissionPolicies(client: KubeClient, ...objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) await client.create(typeOf(object.kind ?? ""), object);
}

function typeOf(kind: string): ResourceType {
  const plural = plurals[kind as keyof typeof plurals];
  return { apiVersion: "admissionregistration.k8s.io/v1", kind, plural, namespaced: false };
}

function definitionOf(kind: string): KubeObject {
  const { plural } = typeOf(kind);
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.admissionregistration.k8s.io` },
    spec: {
      group: "admissionregistration.k8s.io",
      scope: "Cluster",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  } as KubeObject;
}
