import { names } from "../agent-kinds.ts";
import { commandLine, harmlessVariables, size, userId } from "../coder-kinds.ts";
import { count, directory, duration, namespace, oneOf, text, yesOrNo } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const agent = {
  namespace: setting(namespace(), {
    default: "kubernaut-system",
    about: "The namespace of coding tasks. The same for gateways and agents.",
  }),
  concurrency: setting(count(), {
    default: "4",
    env: "AGENT_CONCURRENCY",
    about: "How many tasks one process works on at a time.",
  }),
  maxAttempts: setting(count({ max: 20 }), {
    default: "3",
    env: "AGENT_MAX_ATTEMPTS",
    about: "The maximum number of attempts at a task; after the last one it has failed.",
  }),
  backoffBaseMs: setting(duration({ min: "10ms" }), {
    path: "agent.backoff.base",
    default: "30s",
    about: "The delay before the second attempt. It doubles with each further one.",
  }),
  backoffMaxMs: setting(duration({ min: "10ms" }), {
    path: "agent.backoff.max",
    default: "10m",
    about: "The longest delay between two attempts.",
  }),
  patienceMs: setting(duration({ min: "1s" }), {
    default: "24h",
    env: "AGENT_PATIENCE",
    about:
      "How long a task waits while GitLab or Jira is unreachable or rejects our token. Such attempts do not count as failures of the task.",
  }),
  authorName: setting(text("the name of an author"), {
    path: "agent.author.name",
    default: "Interlock",
    about: "The author of the agent's commits.",
  }),
  authorEmail: setting(text("the address of an author"), {
    path: "agent.author.email",
    default: "interlock@noreply.invalid",
    about: "The email address of the author of the agent's commits.",
  }),
  draftMergeRequests: setting(yesOrNo(), {
    default: "false",
    env: "AGENT_DRAFT_MERGE_REQUESTS",
    about: "Whether merge requests for issues begin as drafts.",
  }),
  command: optional(commandLine(), {
    env: "AGENT_COMMAND",
    about:
      "The coder: a command that reads a request on its standard input and edits the folder it is started in. `{workTree}` and `{requestFile}` are filled in. Without it no task is worked on.",
  }),
  executor: setting(oneOf("local", "job"), {
    default: "local",
    env: "AGENT_EXECUTOR",
    about: "Where the coder runs: as processes of this machine, or in Jobs in `agent.jobNamespace`.",
  }),
  jobNamespace: setting(namespace(), {
    default: "kubernaut-agents",
    about: "The namespace of the coder's Jobs. Nothing else should run there.",
  }),
  jobImage: optional(text("the name of an image"), {
    env: "AGENT_JOB_IMAGE",
    about: "The image with the coder, for Jobs. It needs `/bin/sh` and `timeout`.",
  }),
  jobOwnImage: setting(text("the name of an image"), {
    default: "interlock:0.1.0",
    about: "Interlock's own image, which fetches the commit and collects the result in the coder's Jobs.",
  }),
  jobSecret: optional(namespace(), {
    env: "AGENT_JOB_SECRET",
    about: "A Secret whose keys are variables for the coder in Jobs, such as the key of its model.",
  }),
  jobTokenSecret: setting(namespace(), {
    default: "interlock-gitlab",
    about: "A Secret with GitLab's token under `token`. Only the container that fetches the commit has it.",
  }),
  jobServiceAccount: setting(namespace(), {
    default: "interlock-coder",
    about:
      "The service account of the coder's Jobs. It may create ConfigMaps; only the container that collects the result has it.",
  }),
  jobCpu: setting(text("an amount such as 2 or 500m"), {
    default: "2",
    about: "How much processor the coder may use in a Job.",
  }),
  jobMemory: setting(text("an amount such as 2Gi"), {
    default: "2Gi",
    about: "How much memory the coder may use in a Job.",
  }),
  timeoutMs: setting(duration({ min: "1s" }), {
    default: "10m",
    env: "AGENT_TIMEOUT",
    about: "How long the coder may take for one attempt at a task.",
  }),
  maxOutput: setting(size({ max: "100MB" }), {
    default: "10MB",
    about: "How much the coder may write to its standard output and error.",
  }),
  maxDisk: setting(size(), {
    default: "2GB",
    about: "How much the coder may add to its work tree, HOME and TMPDIR together.",
  }),
  maxDiskFiles: setting(count(), {
    default: "200000",
    about: "How many files the coder may add to its work tree, HOME and TMPDIR together.",
  }),
  maxPatch: setting(size({ max: "50MB" }), {
    default: "1MB",
    about: "The largest change of the coder that is accepted.",
  }),
  maxFiles: setting(count(), { default: "200", about: "The maximum number of files in a change of the coder." }),
  protectedPaths: setting(names("paths as in a .gitignore"), {
    default: ".gitlab-ci.yml, .gitmodules, CODEOWNERS, .github/, .gitlab/",
    about: "Files that the coder must not change, written as in a `.gitignore`.",
  }),
  passEnvironment: optional(harmlessVariables(), {
    env: "AGENT_PASS_ENVIRONMENT",
    about:
      "Variables of Interlock's environment that are passed to the coder, such as the key of its model; no others are. Their values are secret: they are redacted, and a change that contains one is not pushed.",
  }),
  publicEnvironment: optional(harmlessVariables(), {
    env: "AGENT_PUBLIC_ENVIRONMENT",
    about:
      "More variables that are passed to the coder, whose values are no secrets, such as the name of its model or of a proxy.",
  }),
  user: optional(userId(), {
    env: "AGENT_USER",
    about: "The user of the coder if Interlock runs as root; `65534:65534` unless set.",
  }),
  network: setting(oneOf("none", "host"), {
    default: "none",
    env: "AGENT_NETWORK",
    about:
      "The network of the coder. `none` removes it where namespaces allow that; elsewhere, start-up logs a warning. `host` is needed for a model on another machine.",
  }),
  isolation: setting(oneOf("best", "required"), {
    default: "best",
    env: "AGENT_ISOLATION",
    about:
      "The isolation of the coder. `required` refuses to start on a machine that allows it no processes and mounts of its own; `best` starts and logs the gaps.",
  }),
  workDir: optional(directory(), {
    env: "AGENT_WORK_DIR",
    about:
      "The directory for the coder's folders during a run; `coder` in the data directory unless set. A symbolic link, and a directory that another user owns or can write to, is refused.",
  }),
};
