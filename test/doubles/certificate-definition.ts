import type { KubeClient } from "../../src/kube/index.ts";
import { type CustomResourceDefinition, customResourceDefinitions } from "../../src/resources/index.ts";

/** A definition of Certificates, as people apply one while Interlock runs. */
export const certificateDefinition: CustomResourceDefinition = {
  apiVersion: customResourceDefinitions.apiVersion,
  kind: customResourceDefinitions.kind,
  metadata: { name: "certificates.cert-manager.io" },
  spec: {
    group: "cert-manager.io",
    scope: "Namespaced",
    names: { kind: "Certificate", plural: "certificates", singular: "certificate", shortNames: ["cert"] },
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

export async function applyCertificates(client: KubeClient): Promise<void> {
  const outcome = await client.create(customResourceDefinitions, certificateDefinition);
  if (outcome.kind !== "created") throw new Error("the definition is there already");
}

export async function deleteCertificates(client: KubeClient): Promise<void> {
  await client.delete(customResourceDefinitions, { name: "certificates.cert-manager.io" });
}
