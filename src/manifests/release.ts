import type { KubeObject, ResourceType } from "../kube/index.ts";
import { resourceKinds, toCrd } from "../resources/index.ts";
import { agentManifests, consoleManifests, manifests } from "./manifests.ts";
import type { ManifestOptions } from "./workloads.ts";

export interface ReleaseOptions extends ManifestOptions {
  /** Whether the agent is installed, which needs a GitLab. */
  readonly agent: boolean;
  /** Whether the console is installed. Absent in the record of an installation by an earlier version. */
  readonly console?: boolean;
}

/** All objects of an installation, each after the objects that it refers to. */
export function releaseObjects(options: ReleaseOptions): readonly KubeObject[] {
  const crds: readonly KubeObject[] = resourceKinds.map(toCrd);
  const stages = [...manifests(options).values()].flat();
  const agent = options.agent ? agentManifests(options) : [];
  const console = options.console ? consoleManifests(options) : [];
  const objects = [...crds, ...stages, ...agent, ...console];
  return objects.sort((one, other) => kindOrder(one) - kindOrder(other));
}

/** The kinds of these objects, in the order in which they are created. */
const releaseKinds: readonly ResourceType[] = [
  {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    plural: "customresourcedefinitions",
    namespaced: false,
  },
  { apiVersion: "v1", kind: "Namespace", plural: "namespaces", namespaced: false },
  { apiVersion: "v1", kind: "ServiceAccount", plural: "serviceaccounts", namespaced: true },
  ...rbacKinds("ClusterRole", "ClusterRoleBinding").map((kind) => ({ ...kind, namespaced: false })),
  ...rbacKinds("Role", "RoleBinding").map((kind) => ({ ...kind, namespaced: true })),
  ...["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"].map((kind) => ({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    plural: kind === "ValidatingAdmissionPolicy" ? "validatingadmissionpolicies" : "validatingadmissionpolicybindings",
    namespaced: false,
  })),
  { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", plural: "networkpolicies", namespaced: true },
  { apiVersion: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
  { apiVersion: "v1", kind: "Service", plural: "services", namespaced: true },
  { apiVersion: "policy/v1", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets", namespaced: true },
  { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments", namespaced: true },
];

function rbacKinds(...kinds: readonly string[]) {
  return kinds.map((kind) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind,
    plural: `${kind.toLowerCase()}s`,
  }));
}

/** Returns the type of an object of an installation. Throws TypeError for any other kind. */
export function releaseKind({ apiVersion, kind }: Pick<KubeObject, "apiVersion" | "kind">): ResourceType {
  const found = releaseKinds.find((one) => one.apiVersion === apiVersion && one.kind === kind);
  if (!found) throw new TypeError(`no installation has a ${kind} of ${apiVersion}`);
  return found;
}

function kindOrder(object: KubeObject): number {
  return releaseKinds.indexOf(releaseKind(object));
}

/** `NAME@sha256:…` or `NAME:TAG@sha256:…`: an image that no later push can change. */
export const digestPattern = "@sha256:[0-9a-f]{64}$";
/** `NAME:TAG`. The name may contain the port of a registry. */
export const tagPattern = ":[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$";
export const latestPattern = ":latest$";

/** Why an image does not name one version; undefined if it does. Without a tag, `latest` is pulled. */
export function imageProblem(image: string): string | undefined {
  if (new RegExp(digestPattern).test(image)) return undefined;
  if (image.includes("@")) return `${image} has no digest of the form sha256: and 64 hexadecimal digits`;
  const isFixed = new RegExp(tagPattern).test(image) && !new RegExp(latestPattern).test(image);
  return isFixed ? undefined : `${image} names no version; write its digest (NAME@sha256:…) or a tag other than latest`;
}
