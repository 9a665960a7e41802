/** The deployed stages. The console has one replica, the others any number. */
export const stages = ["gateway", "orchestrator", "executor", "notify", "agent", "console"] as const;
export type StageName = (typeof stages)[number];

/**
 * Where something may be done: anywhere, or in the namespace of incidents, of Leases and stages, of watermarks, of runs, or of
 * coders' Jobs.
 */
export type PermissionScope = "anywhere" | "incidents" | "locks" | "watermarks" | "runs" | "agents";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "impersonate";

export interface Permission {
  readonly group: string;
  readonly resources: readonly string[];
  readonly verbs: readonly Verb[];
  readonly where: PermissionScope;
}

const ours = "kubernaut.ai";
const readVerbs = ["get", "list", "watch"] as const;

/** To check that its namespaces and the definitions of our kinds exist. */
const readNamespaces: readonly Permission[] = [
  { group: "apiextensions.k8s.io", resources: ["customresourcedefinitions"], verbs: ["get"], where: "anywhere" },
  { group: "", resources: ["namespaces"], verbs: ["get"], where: "anywhere" },
];

/** The same, and to watch the kinds of targets. */
const readNamespacesAndKinds: readonly Permission[] = [
  { group: "apiextensions.k8s.io", resources: ["customresourcedefinitions"], verbs: readVerbs, where: "anywhere" },
  { group: "", resources: ["namespaces"], verbs: ["get"], where: "anywhere" },
];

const locks: Permission = {
  group: "coordination.k8s.io",
  resources: ["leases"],
  verbs: [...readVerbs, "create", "update", "delete"],
  where: "locks",
};

/** For the heartbeat of a stage that takes no locks. */
const heartbeat: Permission = { ...locks, verbs: ["get", "list", "create", "update", "delete"] };

const watermarks: readonly Permission[] = [
  { group: "", resources: ["configmaps"], verbs: ["get", "create", "update"], where: "watermarks" },
  // Earlier versions stored them there: read once, to migrate them. A right to write would include settings and rules.
  { group: "", resources: ["configmaps"], verbs: ["get"], where: "locks" },
];

/** Whether the API server rejects writes in another user's name. */
const identities: Permission = {
  group: "admissionregistration.k8s.io",
  resources: ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
  verbs: ["get"],
  where: "anywhere",
};

/** To report failing writes: an Event and a notice, in the namespace of the objects. */
const reportStalls = (where: PermissionScope): readonly Permission[] => [
  { group: "", resources: ["events"], verbs: ["create"], where },
  { group: ours, resources: ["notificationrequests"], verbs: ["create"], where },
];

/** The subjects of signals. */
const subjects: readonly Permission[] = [
  {
    group: "",
    resources: [
      "pods",
      "services",
      "persistentvolumeclaims",
      "persistentvolumes",
      "resourcequotas",
      "replicationcontrollers",
    ],
    verbs: ["get"],
    where: "anywhere",
  },
  {
    group: "apps",
    resources: ["replicasets", "deployments", "statefulsets", "daemonsets"],
    verbs: ["get"],
    where: "anywhere",
  },
  { group: "batch", resources: ["jobs", "cronjobs"], verbs: ["get"], where: "anywhere" },
  { group: "autoscaling", resources: ["horizontalpodautoscalers"], verbs: ["get"], where: "anywhere" },
  { group: "policy", resources: ["poddisruptionbudgets"], verbs: ["get"], where: "anywhere" },
  { group: "networking.k8s.io", resources: ["ingresses"], verbs: ["get"], where: "anywhere" },
  { group: "apiregistration.k8s.io", resources: ["apiservices"], verbs: ["get"], where: "anywhere" },
];

/** The minimal permissions of each stage. Only executors read and write runs, and only they delete in the namespace of runs. */
export const permissions: Readonly<Record<StageName, readonly Permission[]>> = {
  gateway: [
    ...readNamespacesAndKinds,
    locks,
    { group: ours, resources: ["remediationrequests"], verbs: [...readVerbs, "create"], where: "incidents" },
    { group: ours, resources: ["remediationrequests/status"], verbs: ["patch"], where: "incidents" },
    // Tasks from GitLab's webhooks.
    { group: ours, resources: ["codingtasks"], verbs: ["get", "create"], where: "incidents" },
    // Watermarks of its own watches.
    ...watermarks,
    ...reportStalls("incidents"),
    // The owners of subjects, and whether they are in scope.
    ...subjects,
    { group: "", resources: ["nodes"], verbs: readVerbs, where: "anywhere" },
    { group: "", resources: ["events"], verbs: ["list", "watch"], where: "anywhere" },
  ],
  orchestrator: [
    ...readNamespacesAndKinds,
    locks,
    {
      group: ours,
      resources: ["remediationrequests"],
      verbs: [...readVerbs, "patch", "delete"],
      where: "anywhere",
    },
    { group: ours, resources: ["remediationrequests/status"], verbs: ["update"], where: "anywhere" },
    // It copies an operator's request to cancel an incident to its executions, as an annotation.
    {
      group: ours,
      resources: ["workflowexecutions"],
      verbs: [...readVerbs, "create", "patch", "delete"],
      where: "anywhere",
    },
    { group: ours, resources: ["remediationapprovalrequests"], verbs: [...readVerbs, "create"], where: "anywhere" },
    { group: ours, resources: ["remediationapprovalrequests/status"], verbs: ["update"], where: "anywhere" },
    ...reportStalls("anywhere"),
    // It marks pauses whose start and end it has recorded.
    { group: ours, resources: ["automationpauses"], verbs: [...readVerbs, "patch"], where: "anywhere" },
    { group: ours, resources: ["remediationworkflows"], verbs: readVerbs, where: "anywhere" },
    // Facts that rules need about the objects behind an incident.
    ...subjects,
    { group: "", resources: ["nodes"], verbs: ["get"], where: "anywhere" },
    // An acknowledgement is written on the record; only executors write its status.
    { group: ours, resources: ["remediationtargets"], verbs: [...readVerbs, "patch"], where: "runs" },
    identities,
  ],
  executor: [
    ...readNamespacesAndKinds,
    heartbeat,
    // It deletes executions that belong to no incident, and records of targets, after their retention.
    { group: ours, resources: ["workflowexecutions"], verbs: [...readVerbs, "patch", "delete"], where: "anywhere" },
    { group: ours, resources: ["workflowexecutions/status"], verbs: ["update"], where: "anywhere" },
    ...reportStalls("anywhere"),
    { group: ours, resources: ["automationpauses", "remediationworkflows"], verbs: readVerbs, where: "anywhere" },
    // The approval that an execution refers to. Only those where incidents are count.
    { group: ours, resources: ["remediationapprovalrequests"], verbs: ["get"], where: "incidents" },
    { group: ours, resources: ["remediationtargets"], verbs: [...readVerbs, "create", "delete"], where: "runs" },
    { group: ours, resources: ["remediationtargets/status"], verbs: ["update"], where: "runs" },
    {
      group: "tekton.dev",
      resources: ["pipelineruns"],
      verbs: [...readVerbs, "create", "patch", "delete"],
      where: "runs",
    },
    { group: "tekton.dev", resources: ["taskruns"], verbs: readVerbs, where: "runs" },
    { group: "batch", resources: ["jobs"], verbs: [...readVerbs, "create", "patch", "delete"], where: "runs" },
    { group: "", resources: ["pods"], verbs: readVerbs, where: "runs" },
    { group: "", resources: ["serviceaccounts"], verbs: ["get"], where: "runs" },
    identities,
  ],
  notify: [
    ...readNamespaces,
    // One of all replicas delivers: the one that holds the lock.
    locks,
    // It creates digests, and deletes notices after their retention.
    { group: ours, resources: ["notificationrequests"], verbs: [...readVerbs, "create", "delete"], where: "anywhere" },
    { group: ours, resources: ["notificationrequests/status"], verbs: ["update"], where: "anywhere" },
    // Threads and alerts are resolved when their incident is closed.
    { group: ours, resources: ["remediationrequests"], verbs: readVerbs, where: "anywhere" },
    { group: "", resources: ["events"], verbs: ["create"], where: "anywhere" },
  ],
  agent: [
    ...readNamespaces,
    locks,
    // The resume points of its polling.
    ...watermarks,
    { group: ours, resources: ["codingtasks"], verbs: [...readVerbs, "create", "patch", "delete"], where: "incidents" },
    { group: ours, resources: ["codingtasks/status"], verbs: ["update"], where: "incidents" },
    ...reportStalls("incidents"),
    { group: ours, resources: ["automationpauses"], verbs: readVerbs, where: "anywhere" },
    // With `agent.executor: job`. Jobs of coders have their own namespace: only executors may use the namespace of runs.
    {
      group: "batch",
      resources: ["jobs"],
      verbs: ["get", "watch", "create", "patch", "delete"],
      where: "agents",
    },
    { group: "", resources: ["configmaps"], verbs: ["get", "create", "delete"], where: "agents" },
    // Why a Job failed, and whether its pods still run.
    { group: "", resources: ["pods"], verbs: ["list"], where: "agents" },
    { group: "", resources: ["serviceaccounts"], verbs: ["get"], where: "agents" },
  ],
  console: [
    ...readNamespacesAndKinds,
    heartbeat,
    {
      group: ours,
      resources: [
        "remediationrequests",
        "workflowexecutions",
        "remediationapprovalrequests",
        "automationpauses",
        "remediationtargets",
        "codingtasks",
        "notificationrequests",
      ],
      verbs: readVerbs,
      where: "anywhere",
    },
    // The user of a token. Everything except the rows above and the kinds is read and written with the rights of that user.
    { group: "authentication.k8s.io", resources: ["tokenreviews"], verbs: ["create"], where: "anywhere" },
    { group: "", resources: ["users", "groups", "serviceaccounts"], verbs: ["impersonate"], where: "anywhere" },
  ],
};

/** The permissions of a coder's Job, for its container `collect`. RBAC cannot limit `create` to one name. */
export const coderPermissions: readonly Permission[] = [
  { group: "", resources: ["configmaps"], verbs: ["create"], where: "agents" },
];
