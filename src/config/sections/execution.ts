import { count, directory, duration, file, namespace, oneOf, reasons, share, someOf, yesOrNo } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const execution = {
  engine: setting({
    kind: oneOf("tekton", "job", "local"),
    default: "local",
    about: "The engine of a workflow that names none.",
  }),
  engines: setting({
    kind: someOf("tekton", "job", "local"),
    default: "local",
    about: "The engines that are set up here.",
  }),
  namespace: setting({
    kind: namespace(),
    default: "kubernaut-workflows",
    about: "The namespace of runs and target records.",
  }),
  serviceAccount: optional<string>({
    kind: namespace(),
    about: "The service account of runs whose workflow names none.",
  }),
  workflowsDir: setting({
    kind: directory(),
    default: "workflows",
    env: "WORKFLOWS_DIR",
    about:
      "The folder with the catalog's workflows, one folder each. A pod (`objects.server` is `in-cluster`) reads no folder unless this is set.",
  }),
  catalogNamespace: setting({
    kind: namespace(),
    default: "kubernaut-system",
    about: "The namespace of the catalog. A RemediationWorkflow in any other namespace is ignored.",
  }),
  allowOutsideCatalog: setting({
    kind: yesOrNo(),
    default: "false",
    about:
      "Run executions whose workflow is not in the catalog at all, with the engine, image and service account that they name.",
  }),
  localDir: optional<string>({
    kind: directory(),
    about:
      "Where the local engine keeps its runs. Replicas that share it take turns; in the data directory unless set.",
  }),
  localKubeconfig: optional<string>({
    kind: file(),
    about:
      "Kubeconfig that steps of the local engine get as KUBECONFIG: the cluster that ready-made actions act on. Its user needs the rights of those actions, and no others.",
  }),
  runTtlMs: setting({
    kind: duration({ atLeast: "1m" }),
    default: "1h",
    about: "How long the run of a failed execution is kept, for people to look at. Never shortens a cooldown.",
  }),
  retentionMs: setting({
    kind: duration({ atLeast: "1m" }),
    default: "168h",
    about:
      "How long a finished execution that belongs to no incident is kept. Longer while its cooldown runs, or while an operator must acknowledge the effects of its workflow on the target.",
  }),
  targetRetentionMs: setting({
    kind: duration({ atLeast: "1m" }),
    default: "720h",
    about:
      "How long the record of a target is kept after the last end on it. Longer while there are executions or runs on the target, while a check needs it, and if an approval was used.",
  }),
  timeoutMs: setting({
    kind: duration({ atLeast: "1s" }),
    default: "30m",
    about: "How long a run may take, unless its workflow sets another limit.",
  }),
  cooldownMs: setting({
    isPolicy: true,
    kind: duration(),
    default: "5m",
    path: "resource_locking.cooldown_period",
    about: "How long a workflow waits after a success on the same target, unless it sets its own.",
  }),
  backoffBaseMs: setting({
    isPolicy: true,
    kind: duration(),
    default: "1m",
    path: "execution.backoff.base",
    about: "The wait after the first failure before acting. It doubles with each further one.",
  }),
  backoffMaxMs: setting({
    isPolicy: true,
    kind: duration(),
    default: "10m",
    path: "execution.backoff.max",
    about: "The longest wait after failures before acting.",
  }),
  backoffMaxExponent: setting({
    isPolicy: true,
    kind: count(),
    default: "4",
    path: "execution.backoff.maxExponent",
    about: "The maximum number of times that the wait doubles.",
  }),
  backoffJitter: setting({
    isPolicy: true,
    kind: share(),
    default: "0",
    path: "execution.backoff.jitter",
    about: "The random share that is added to or subtracted from the wait.",
  }),
  maxConsecutiveFailures: setting({
    isPolicy: true,
    kind: count({ atMost: 20 }),
    default: "5",
    about: "The number of consecutive failures before acting after which an operator must acknowledge.",
  }),
  observe: setting({
    isPolicy: true,
    kind: yesOrNo(),
    default: "false",
    about: "Decide and record everything, start nothing.",
  }),
  observeTargets: setting({
    isPolicy: true,
    kind: reasons(),
    default: "",
    about:
      "Targets that are only observed, each with the reason: everything is decided and recorded, nothing is started.",
  }),
  concurrency: setting({
    kind: count(),
    default: "64",
    about: "How many executions are worked on at a time.",
  }),
};
