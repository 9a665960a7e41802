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
const follow = ["get", "list", "watch"] as const;

/** To see that its namespaces are there, and the definitions of our kinds. */
const look: readonly Permission[] = [
  { group: "apiextensions.k8s.io", resources: ["customresourcedefinitions"], verbs: ["get"], where: "anywhere" },
  { group: "", resources: ["namespaces"], verbs: ["get"], where: "anywhere" },
];

/** The same, and to learn of the kinds that targets may be of, also of those that are defined later. */
const lookAndFollowKinds: readonly Permission[] = [
  { group: "apiextensions.k8s.io", resources: ["customresourcedefinitions"], verbs: follow, where: "anywhere" },
  { group: "", resources: ["namespaces"], verbs: ["get"], where: "anywhere" },
];

const locks: Permission = {
  group: "coordination.k8s.io",
  resources: ["leases"],
  verbs: [...follow, "create", "update", "delete"],
  where: "locks",
};

/** For the heartbeat of a stage that takes no locks. */
const heartbeat: Permission = { ...locks, verbs: ["get", "list", "create", "update", "delete"] };

const watermarks: readonly Permission[] = [
  { group: "", resources: ["configmaps"], verbs: ["get", "create", "update"], where: "watermarks" },
  // Where earlier versions kept them: read once, to carry them over. To write here would be to write settings and rules.
  { group: "", resources: ["configmaps"], verbs: ["get"], where: "locks" },
];

/** Whether the API server rejects writes in another user's name. */
const identities: Permission = {
  group: "admissionregistration.k8s.io",
  resources: ["validatingadmissionpolicies", "validatingadmissionpolicybindings"],
  verbs: ["get"],
  where: "anywhere",
};

/** To explain what keeps failing: an Event and a notice, where the objects are. */
const explain = (where: PermissionScope): readonly Permission[] => [
  { group: "", resources: ["events"], verbs: ["create"], where },
  { group: ours, resources: ["notificationrequests"], verbs: ["create"], where },
];

/** Everything that a signal may be about. */
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

/** The least that each stage needs. Only executors touch runs, and only they delete where runs are. */
export const permissions: Readonly<Record<StageName, readonly Permission[]>> = {
  gateway: [
    ...lookAndFollowKinds,
    locks,
    { group: ours, resources: ["remediationrequests"], verbs: [...follow, "create"], where: "incidents" },
    { group: ours, resources: ["remediationrequests/status"], verbs: ["patch"], where: "incidents" },
    // Tasks from GitLab's webhooks.
    { group: ours, resources: ["codingtasks"], verbs: ["get", "create"], where: "incidents" },
    // Watermarks of its own watches.
    ...watermarks,
    ...explain("incidents"),
    // Who owns what a signal names, and whether that is in scope.
    ...subjects,
    { group: "", resources: ["nodes"], verbs: follow, where: "anywhere" },
    { group: "", resources: ["events"], verbs: ["list", "watch"], where: "anywhere" },
  ],
  orchestrator: [
    ...lookAndFollowKinds,
    locks,
    {
      group: ours,
      resources: ["remediationrequests"],
      verbs: [...follow, "patch", "delete"],
      where: "anywhere",
    },
    { group: ours, resources: ["remediationrequests/status"], verbs: ["update"], where: "anywhere" },
    // It passes an operator's request to cancel an incident on to its executions, by annotation.
    {
      group: ours,
      resources: ["workflowexecutions"],
      verbs: [...follow, "create", "patch", "delete"],
      where: "anywhere",
    },
    { group: ours, resources: ["remediationapprovalrequests"], verbs: [...follow, "create"], where: "anywhere" },
    { group: ours, resources: ["remediationapprovalrequests/status"], verbs: ["update"], where: "anywhere" },
    ...explain("anywhere"),
    // It marks pauses whose beginning and end it has recorded.
    { group: ours, resources: ["automationpauses"], verbs: [...follow, "patch"], where: "anywhere" },
    { group: ours, resources: ["remediationworkflows"], verbs: follow, where: "anywhere" },
    // Facts that rules need about the objects behind an incident.
    ...subjects,
    { group: "", resources: ["nodes"], verbs: ["get"], where: "anywhere" },
    // An acknowledgement is written on the record; only executors write its status.
    { group: ours, resources: ["remediationtargets"], verbs: [...follow, "patch"], where: "runs" },
    identities,
  ],
  executor: [
    ...lookAndFollowKinds,
    heartbeat,
    // It deletes executions that belong to no incident, and records of targets, after their retention.
    { group: ours, resources: ["workflowexecutions"], verbs: [...follow, "patch", "delete"], where: "anywhere" },
    { group: ours, resources: ["workflowexecutions/status"], verbs: ["update"], where: "anywhere" },
    ...explain("anywhere"),
    { group: ours, resources: ["automationpauses", "remediationworkflows"], verbs: follow, where: "anywhere" },
    // The approval that an execution refers to. Only those where incidents are count.
    { group: ours, resources: ["remediationapprovalrequests"], verbs: ["get"], where: "incidents" },
    { group: ours, resources: ["remediationtargets"], verbs: [...follow, "create", "delete"], where: "runs" },
    { group: ours, resources: ["remediationtargets/status"], verbs: ["update"], where: "runs" },
    {
      group: "tekton.dev",
      resources: ["pipelineruns"],
      verbs: [...follow, "create", "patch", "delete"],
      where: "runs",
    },
    { group: "tekton.dev", resources: ["taskruns"], verbs: follow, where: "runs" },
    { group: "batch", resources: ["jobs"], verbs: [...follow, "create", "patch", "delete"], where: "runs" },
    { group: "", resources: ["pods"], verbs: follow, where: "runs" },
    { group: "", resources: ["serviceaccounts"], verbs: ["get"], where: "runs" },
    identities,
  ],
  notify: [
    ...look,
    // One of all replicas delivers: the one that holds the lock.
    locks,
    // It makes digests itself, and deletes notices after their retention.
    { group: ours, resources: ["notificationrequests"], verbs: [...follow, "create", "delete"], where: "anywhere" },
    { group: ours, resources: ["notificationrequests/status"], verbs: ["update"], where: "anywhere" },
    // Threads and alerts are resolved when their incident is closed.
    { group: ours, resources: ["remediationrequests"], verbs: follow, where: "anywhere" },
    { group: "", resources: ["events"], verbs: ["create"], where: "anywhere" },
  ],
  agent: [
    ...look,
    locks,
    // How far it has asked GitLab and Jira.
    ...watermarks,
    { group: ours, resources: ["codingtasks"], verbs: [...follow, "create", "patch", "delete"], where: "incidents" },
    { group: ours, resources: ["codingtasks/status"], verbs: ["update"], where: "incidents" },
    ...explain("incidents"),
    { group: ours, resources: ["automationpauses"], verbs: follow, where: "anywhere" },
    // With `agent.executor: job`. They have a namespace of their own: runs are the executors' alone.
    {
      group: "batch",
      resources: ["jobs"],
      verbs: ["get", "watch", "create", "patch", "delete"],
      where: "agents",
    },
    { group: "", resources: ["configmaps"], verbs: ["get", "create", "delete"], where: "agents" },
    // Why a Job failed, and whether anything of it still runs.
    { group: "", resources: ["pods"], verbs: ["list"], where: "agents" },
    { group: "", resources: ["serviceaccounts"], verbs: ["get"], where: "agents" },
  ],
  console: [
    ...lookAndFollowKinds,
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
      verbs: follow,
      where: "anywhere",
    },
    // Whose token it is. Everything but the rows above and the kinds is read and written in the name of that user, by that user's rights.
    { group: "authentication.k8s.io", resources: ["tokenreviews"], verbs: ["create"], where: "anywhere" },
    { group: "", resources: ["users", "groups", "serviceaccounts"], verbs: ["impersonate"], where: "anywhere" },
  ],
};

/** What a Job of a coder may do, and only its container `collect`. RBAC cannot limit `create` to one name. */
export const coderPermissions: readonly Permission[] = [
  { group: "", resources: ["configmaps"], verbs: ["create"], where: "agents" },
];
