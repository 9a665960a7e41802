import { count, directory, duration, file, namespace, oneOf, reasons, share, someOf, yesOrNo } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const execution = {
  engine: setting(oneOf("tekton", "job", "local"), {
    default: "local",
    about: "The engine of a workflow that names none.",
  }),
  engines: setting(someOf("tekton", "job", "local"), { default: "local", about: "The engines that are set up here." }),
  namespace: setting(namespace(), {
    default: "kubernaut-workflows",
    about: "The namespace of runs and target records.",
  }),
  serviceAccount: optional(namespace(), { about: "The service account of runs whose workflow names none." }),
  workflowsDir: setting(directory(), {
    default: "workflows",
    env: "WORKFLOWS_DIR",
    about:
      "The folder with the catalog's workflows, one folder each. A pod (`objects.server` is `in-cluster`) reads no folder unless this is set.",
  }),
  catalogNamespace: setting(namespace(), {
    default: "kubernaut-system",
    about: "The namespace of the catalog. A RemediationWorkflow in any other namespace is ignored.",
  }),
  allowOutsideCatalog: setting(yesOrNo(), {
    default: "false",
    about:
      "Run executions whose workflow is not in the catalog at all, with the engine, image and service account that they name.",
  }),
  localDir: optional(directory(), {
    about:
      "Where the local engine keeps its runs. Replicas that share it take turns; in the data directory unless set.",
  }),
  localKubeconfig: optional(file(), {
    env: "LOCAL_KUBECONFIG",
    about:
      "Kubeconfig that steps of the local engine get as KUBECONFIG: the cluster that ready-made actions act on. Its user needs the rights of those actions, and no others.",
  }),
  runTtlMs: setting(duration({ min: "1m" }), {
    default: "1h",
    about: "How long the run of a failed execution is kept for inspection. Never shortens a cooldown.",
  }),
  retentionMs: setting(duration({ min: "1m" }), {
    default: "168h",
    about:
      "How long a finished execution that belongs to no incident is kept. Longer while its cooldown runs, or while an operator must acknowledge the effects of its workflow on the target.",
  }),
  targetRetentionMs: setting(duration({ min: "1m" }), {
    default: "720h",
    about:
      "How long the record of a target is kept after the last end on it. Longer while there are executions or runs on the target, while a check needs it, and if an approval was used.",
  }),
  timeoutMs: setting(duration({ min: "1s" }), {
    default: "30m",
    about: "How long a run may take, unless its workflow sets another limit.",
  }),
  cooldownMs: setting(duration(), {
    path: "resource_locking.cooldown_period",
    isPolicy: true,
    default: "5m",
    about: "How long a workflow waits after a success on the same target, unless it sets its own.",
  }),
  backoffBaseMs: setting(duration(), {
    path: "execution.backoff.base",
    isPolicy: true,
    default: "1m",
    about: "The wait after the first failure before acting. It doubles with each further one.",
  }),
  backoffMaxMs: setting(duration(), {
    path: "execution.backoff.max",
    isPolicy: true,
    default: "10m",
    about: "The longest wait after failures before acting.",
  }),
  backoffMaxExponent: setting(count(), {
    path: "execution.backoff.maxExponent",
    isPolicy: true,
    default: "4",
    about: "The maximum number of times that the wait doubles.",
  }),
  backoffJitter: setting(share(), {
    path: "execution.backoff.jitter",
    isPolicy: true,
    default: "0",
    about: "The random share that is added to or subtracted from the wait.",
  }),
  maxConsecutiveFailures: setting(count({ max: 20 }), {
    isPolicy: true,
    default: "5",
    about: "The number of consecutive failures before acting after which an operator must acknowledge.",
  }),
  observe: setting(yesOrNo(), {
    isPolicy: true,
    default: "false",
    about: "Decide and record everything, start nothing.",
  }),
  observeTargets: setting(reasons(), {
    isPolicy: true,
    default: "",
    about:
      "Targets that are only observed, each with the reason: everything is decided and recorded, nothing is started.",
  }),
  concurrency: setting(count(), { default: "64", about: "How many executions are worked on at a time." }),
};
