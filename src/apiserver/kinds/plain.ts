import { type Draft, isRecord, member } from "../json/json.ts";
import { anything } from "../structural/schema.ts";
import { ageColumn, nameColumn, textColumn } from "../tables/column.ts";
import { defineResource, type KindDescription, selectableFields } from "./define-resource.ts";

/** Kinds that are only stored and served: there is no kubelet, scheduler or controller here. */
export const plainKinds = [
  defineResource({
    kind: "ServiceAccount",
    plural: "serviceaccounts",
    shortNames: ["sa"],
    subresources: [
      { name: "token", kind: "TokenRequest", group: "authentication.k8s.io", version: "v1", verbs: ["create"] },
    ],
    fields: {
      secrets: { type: "array", items: anything },
      imagePullSecrets: { type: "array", items: anything },
      automountServiceAccountToken: { type: "boolean" },
    },
  }),
  defineResource({
    kind: "Pod",
    plural: "pods",
    shortNames: ["po"],
    categories: ["all"],
    hasStatus: true,
    subresources: [
      { name: "eviction", kind: "Eviction", group: "policy", version: "v1", verbs: ["create"] },
      { name: "log", kind: "Pod", verbs: ["get"] },
    ],
    selectable: selectableFields(true, ["spec.nodeName", "spec.serviceAccountName", "status.phase", "status.podIP"]),
    fieldsByConversion: true,
    prepare: (draft, old) => {
      if (!old) draft.status = { phase: "Pending" };
    },
    columns: [
      nameColumn,
      textColumn("Status", (pod) => member(pod, "status", "phase") ?? "", {
        description: "The aggregate status of the containers in this pod.",
      }),
      ageColumn("string"),
    ],
  }),
  defineResource({ kind: "Node", plural: "nodes", namespaced: false, shortNames: ["no"], hasStatus: true }),
  defineResource({
    kind: "Service",
    plural: "services",
    shortNames: ["svc"],
    categories: ["all"],
    hasStatus: true,
  }),
  ...[
    { group: "apps", kind: "Deployment", plural: "deployments", shortNames: ["deploy"] },
    { group: "apps", kind: "ReplicaSet", plural: "replicasets", shortNames: ["rs"] },
    { group: "apps", kind: "StatefulSet", plural: "statefulsets", shortNames: ["sts"] },
    { group: "apps", kind: "DaemonSet", plural: "daemonsets", shortNames: ["ds"] },
    { group: "batch", kind: "Job", plural: "jobs" },
    { group: "batch", kind: "CronJob", plural: "cronjobs", shortNames: ["cj"] },
    { group: "autoscaling", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers", shortNames: ["hpa"] },
  ].map(workload),
  defineResource({
    kind: "PersistentVolumeClaim",
    plural: "persistentvolumeclaims",
    shortNames: ["pvc"],
    hasStatus: true,
  }),
  defineResource({
    group: "policy",
    kind: "PodDisruptionBudget",
    plural: "poddisruptionbudgets",
    shortNames: ["pdb"],
    hasStatus: true,
    hasGeneration: true,
  }),
  defineResource({
    group: "storage.k8s.io",
    kind: "StorageClass",
    plural: "storageclasses",
    shortNames: ["sc"],
    namespaced: false,
    fields: { provisioner: { type: "string" }, allowVolumeExpansion: { type: "boolean" }, parameters: anything },
  }),
  ...[
    { kind: "Role", plural: "roles", namespaced: true },
    { kind: "RoleBinding", plural: "rolebindings", namespaced: true },
    { kind: "ClusterRole", plural: "clusterroles", namespaced: false },
    { kind: "ClusterRoleBinding", plural: "clusterrolebindings", namespaced: false },
  ].map((kind) =>
    defineResource({
      ...kind,
      group: "rbac.authorization.k8s.io",
      fields: {
        rules: { type: "array", items: anything },
        aggregationRule: anything,
        subjects: { type: "array", items: anything },
        roleRef: anything,
      },
      refusal: "this embedded API server has no RBAC: a token is for an administrator or for reading, nothing between",
    }),
  ),
];

function workload(kind: KindDescription) {
  return defineResource({
    ...kind,
    categories: ["all"],
    hasStatus: true,
    hasGeneration: true,
    prepare: ensureStatus,
  });
}

function ensureStatus(draft: Draft) {
  if (!isRecord(draft.status)) draft.status = {};
}
