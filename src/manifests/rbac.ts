import type { KubeObject } from "../kube/index.ts";
import { coderPermissions, type Permission, type PermissionScope, permissions, type StageName } from "./permissions.ts";

/** The namespaces that places stand for. */
export type Places = Readonly<Record<Exclude<PermissionScope, "anywhere">, string>>;

export interface RbacRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

const rbac = "rbac.authorization.k8s.io";

/** The service account of a stage, with its permissions. */
export function stageRbac(stage: StageName, places: Places): readonly KubeObject[] {
  const name = `interlock-${stage}`;
  const subjects = [{ kind: "ServiceAccount", name, namespace: places.locks }];
  const allowed = permissions[stage];
  const everywhere = rulesIn(allowed, (place) => place === "anywhere");
  const spaces = [...new Set(Object.values(places))];
  return [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: places.locks } },
    { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name }, rules: everywhere } as KubeObject,
    {
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name },
      subjects,
    } as KubeObject,
    ...spaces.flatMap((namespace) => {
      const rules = rulesIn(allowed, (place) => place !== "anywhere" && places[place] === namespace);
      return rules.length === 0 ? [] : roleIn({ name, namespace }, rules, subjects);
    }),
  ];
}

/** The service account of Jobs in which coders run. */
export function coderRbac({ agents: namespace }: Places): readonly KubeObject[] {
  const metadata = { name: "interlock-coder", namespace };
  const subjects = [{ kind: "ServiceAccount", ...metadata }];
  const rules = rulesIn(coderPermissions, (place) => place === "agents");
  return [{ apiVersion: "v1", kind: "ServiceAccount", metadata }, ...roleIn(metadata, rules, subjects)];
}

function roleIn(
  metadata: { readonly name: string; readonly namespace: string },
  rules: readonly RbacRule[],
  subjects: readonly object[],
): readonly KubeObject[] {
  const roleRef = { apiGroup: rbac, kind: "Role", name: metadata.name };
  return [
    { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules } as KubeObject,
    { apiVersion: `${rbac}/v1`, kind: "RoleBinding", metadata, roleRef, subjects } as KubeObject,
  ];
}

function rulesIn(allowed: readonly Permission[], isHere: (place: PermissionScope) => boolean): readonly RbacRule[] {
  return allowed
    .filter(({ where }) => isHere(where))
    .map(({ group, resources, verbs }) => ({ apiGroups: [group], resources, verbs }));
}
