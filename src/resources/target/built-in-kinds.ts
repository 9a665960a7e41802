/** The persistent kinds of kube-apiserver 1.32, with the short names of kubectl. Some were in the group `extensions` before. */
export const builtIns: readonly KnownKind[] = [
  ...namespacedKinds([""], {
    pod: ["po"],
    service: ["svc"],
    configmap: ["cm"],
    secret: [],
    serviceaccount: ["sa"],
    persistentvolumeclaim: ["pvc"],
    endpoints: ["ep"],
    limitrange: ["limits"],
    resourcequota: ["quota"],
    replicationcontroller: ["rc"],
    podtemplate: [],
  }),
  ...namespacedKinds(["", "events.k8s.io"], { event: ["ev"] }),
  ...clusterWide([""], { node: ["no"], namespace: ["ns"], persistentvolume: ["pv"] }),
  ...namespacedKinds(["apps", "extensions"], { deployment: ["deploy"], replicaset: ["rs"], daemonset: ["ds"] }),
  ...namespacedKinds(["apps"], { statefulset: ["sts"], controllerrevision: [] }),
  ...namespacedKinds(["batch"], { job: [], cronjob: ["cj"] }),
  ...namespacedKinds(["autoscaling"], { horizontalpodautoscaler: ["hpa"] }),
  ...namespacedKinds(["policy"], { poddisruptionbudget: ["pdb"] }),
  ...namespacedKinds(["networking.k8s.io", "extensions"], { ingress: ["ing"], networkpolicy: ["netpol"] }),
  ...clusterWide(["networking.k8s.io"], { ingressclass: [] }),
  ...namespacedKinds(["rbac.authorization.k8s.io"], { role: [], rolebinding: [] }),
  ...clusterWide(["rbac.authorization.k8s.io"], { clusterrole: [], clusterrolebinding: [] }),
  ...clusterWide(["storage.k8s.io"], { storageclass: ["sc"], volumeattachment: [], csidriver: [], csinode: [] }),
  ...namespacedKinds(["storage.k8s.io"], { csistoragecapacity: [] }),
  ...namespacedKinds(["coordination.k8s.io"], { lease: [] }),
  ...namespacedKinds(["discovery.k8s.io"], { endpointslice: [] }),
  ...clusterWide(["scheduling.k8s.io"], { priorityclass: ["pc"] }),
  ...clusterWide(["node.k8s.io"], { runtimeclass: [] }),
  ...clusterWide(["certificates.k8s.io"], { certificatesigningrequest: ["csr"] }),
  ...clusterWide(["flowcontrol.apiserver.k8s.io"], { flowschema: [], prioritylevelconfiguration: [] }),
  ...clusterWide(["apiregistration.k8s.io"], { apiservice: [] }),
  ...clusterWide(["apiextensions.k8s.io"], { customresourcedefinition: ["crd", "crds"] }),
  ...clusterWide(["admissionregistration.k8s.io"], {
    validatingwebhookconfiguration: [],
    mutatingwebhookconfiguration: [],
    validatingadmissionpolicy: [],
    validatingadmissionpolicybinding: [],
  }),
];

type Names = Readonly<Record<string, readonly string[]>>;

function namespacedKinds(groups: KnownKind["groups"], names: Names): KnownKind[] {
  return kinds(groups, names, true);
}

function clusterWide(groups: KnownKind["groups"], names: Names): KnownKind[] {
  return kinds(groups, names, false);
}

function kinds(groups: KnownKind["groups"], names: Names, isNamespaced: boolean): KnownKind[] {
  return Object.entries(names).map(([singular, shortNames]) => {
    return { singular, plural: toPlural(singular), shortNames, groups, namespaced: isNamespaced, builtIn: true };
  });
}

function toPlural(singular: string): string {
  if (singular === "endpoints") return singular;
  if (singular.endsWith("y")) return `${singular.slice(0, -1)}ies`;
  return singular.endsWith("s") ? `${singular}es` : `${singular}s`;
}

/** A kind of Kubernetes object with all its names, in lower case. */
export interface KnownKind {
  readonly singular: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  /** The API groups of the kind: the current one first, then former ones. The core group is empty. */
  readonly groups: readonly [string, ...string[]];
  readonly namespaced: boolean;
  /** The version in which objects of a custom kind are read by default; built-in kinds have v1. */
  readonly version?: string;
  /** Built-in kinds are written without their group. */
  readonly builtIn: boolean;
}

/** The kind as in a canonical target. */
export function kindText({ singular, groups, builtIn }: KnownKind): string {
  return builtIn ? singular : `${singular}.${groups[0]}`;
}
