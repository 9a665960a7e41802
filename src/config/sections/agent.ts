import { names } from "../agent-kinds.ts";
import { commandLine, harmlessVariables, size, userId } from "../coder-kinds.ts";
import { count, directory, duration, namespace, oneOf, text, yesOrNo } from "../kinds.ts";
import { optional, setting } from "../setting.ts";

export const agent = {
  namespace: setting({
    kind: namespace(),
    default: "kubernaut-system",
    about: "The namespace of coding tasks. The same for gateways and agents.",
  }),
  concurrency: setting({
    kind: count(),
    default: "4",
    env: "AGENT_CONCURRENCY",
    about: "How many tasks one process works on at a time.",
  }),
  maxAttempts: setting({
    kind: count({ atMost: 20 }),
    default: "3",
    env: "AGENT_MAX_ATTEMPTS",
    about: "How often a task is tried before it has failed.",
  }),
  backoffBaseMs: setting({
    kind: duration({ atLeast: "10ms" }),
    default: "30s",
    path: "agent.backoff.base",
    about: "The wait before the second try. It doubles with each further one.",
  }),
  backoffMaxMs: setting({
    kind: duration({ atLeast: "10ms" }),
    default: "10m",
    path: "agent.backoff.max",
    about: "The longest wait between two tries.",
  }),
  patienceMs: setting({
    kind: duration({ atLeast: "1s" }),
    default: "24h",
    env: "AGENT_PATIENCE",
    about:
      "How long a task waits while GitLab or Jira is unreachable or rejects our token. Such attempts do not count as failures of the task.",
  }),
  authorName: setting({
    kind: text("the name of an author"),
    default: "Interlock",
    path: "agent.author.name",
    about: "The author of the agent's commits.",
  }),
  authorEmail: setting({
    kind: text("the address of an author"),
    default: "interlock@noreply.invalid",
    path: "agent.author.email",
    about: "The email address of that author.",
  }),
  draftMergeRequests: setting({
    kind: yesOrNo(),
    default: "false",
    env: "AGENT_DRAFT_MERGE_REQUESTS",
    about: "Whether merge requests for issues begin as drafts.",
  }),
  command: optional<readonly string[]>({
    kind: commandLine(),
    env: "AGENT_COMMAND",
    about:
      "The coder: a command that reads a request on its standard input and edits the folder it is started in. `{workTree}` and `{requestFile}` are filled in. Without it no task is worked on.",
  }),
  executor: setting({
    kind: oneOf("local", "job"),
    default: "local",
    env: "AGENT_EXECUTOR",
    about: "Where the coder runs: as processes of this machine, or in Jobs in `agent.jobNamespace`.",
  }),
  jobNamespace: setting({
    kind: namespace(),
    default: "kubernaut-agents",
    about: "The namespace of those Jobs. Nothing else should run there.",
  }),
  jobImage: optional<string>({
    kind: text("the name of an image"),
    env: "AGENT_JOB_IMAGE",
    about: "The image with the coder, for Jobs. It needs `/bin/sh` and `timeout`.",
  }),
  jobOwnImage: setting({
    kind: text("the name of an image"),
    default: "interlock:0.1.0",
    about: "Interlock's own image, which fetches and collects in those Jobs.",
  }),
  jobSecret: optional<string>({
    kind: namespace(),
    env: "AGENT_JOB_SECRET",
    about: "A Secret whose keys are variables for the coder in Jobs, such as the key of its model.",
  }),
  jobTokenSecret: setting({
    kind: namespace(),
    default: "interlock-gitlab",
    about: "A Secret with GitLab's token under `token`. Only the container that fetches has it.",
  }),
  jobServiceAccount: setting({
    kind: namespace(),
    default: "interlock-coder",
    about: "The service account of those Jobs. It may create ConfigMaps, and only the container that collects has it.",
  }),
  jobCpu: setting({
    kind: text("an amount such as 2 or 500m"),
    default: "2",
    about: "How much processor the coder may use in a Job.",
  }),
  jobMemory: setting({
    kind: text("an amount such as 2Gi"),
    default: "2Gi",
    about: "How much memory the coder may use in a Job.",
  }),
  timeoutMs: setting({
    kind: duration({ atLeast: "1s" }),
    default: "10m",
    env: "AGENT_TIMEOUT",
    about: "How long the coder may take for one task.",
  }),
  maxOutput: setting({
    kind: size({ atMost: "100MB" }),
    default: "10MB",
    about: "How much it may write to its standard outputs.",
  }),
  maxDisk: setting({
    kind: size(),
    default: "2GB",
    about: "How much it may add to its work tree, HOME and TMPDIR together.",
  }),
  maxDiskFiles: setting({
    kind: count(),
    default: "200000",
    about: "How many files it may add there.",
  }),
  maxPatch: setting({
    kind: size({ atMost: "50MB" }),
    default: "1MB",
    about: "The largest change that is taken from it.",
  }),
  maxFiles: setting({
    kind: count(),
    default: "200",
    about: "How many files that change may touch.",
  }),
  protectedPaths: setting({
    kind: names("paths as in a .gitignore"),
    default: ".gitlab-ci.yml, .gitmodules, CODEOWNERS, .github/, .gitlab/",
    about: "Files it must not change, written as in a `.gitignore`.",
  }),
  passEnvironment: optional<readonly string[]>({
    kind: harmlessVariables(),
    env: "AGENT_PASS_ENVIRONMENT",
    about:
      "Variables of our environment that it gets, such as the key of its model. It sees no others. Their values are secret: they are redacted, and a change that contains one is not pushed.",
  }),
  publicEnvironment: optional<readonly string[]>({
    kind: harmlessVariables(),
    env: "AGENT_PUBLIC_ENVIRONMENT",
    about: "More variables that it gets, whose values are no secrets, such as the name of its model or of a proxy.",
  }),
  user: optional<{ readonly uid: number; readonly gid: number }>({
    kind: userId(),
    env: "AGENT_USER",
    about: "The user it runs as if Interlock runs as root; `65534:65534` unless set.",
  }),
  network: setting({
    kind: oneOf("none", "host"),
    default: "none",
    env: "AGENT_NETWORK",
    about:
      "`none` removes the network where namespaces allow that; elsewhere, start-up logs a warning. `host` is needed for a model on another machine.",
  }),
  isolation: setting({
    kind: oneOf("best", "required"),
    default: "best",
    env: "AGENT_ISOLATION",
    about:
      "`required` does not start where it cannot have processes and mounts of its own; `best` logs what is missing.",
  }),
  workDir: optional<string>({
    kind: directory(),
    env: "AGENT_WORK_DIR",
    about:
      "Where its folders are while it works; `coder` in the data directory unless set. A symbolic link, and a directory that another user owns or can write to, is refused.",
  }),
};
