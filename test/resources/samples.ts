import type { KubeObject } from "../../src/kube/index.ts";
import {
  automationPauses,
  codingTasks,
  type Kind,
  notificationRequests,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  remediationWorkflows,
  type WorkflowExecution,
  workflowExecutions,
} from "../../src/resources/index.ts";

const at = "2026-11-15T06:00:00.000Z";
const later = "2026-11-15T06:02:30.000Z";
const uid = "6d4c1f1e-6f1e-4b6b-9a50-0d7a4a3a6d11";
const sha = "0123456789abcdef0123456789abcdef01234567";

const execution = { name: "wfe-disk-1", namespace: "kubernaut-system", uid };
const end = {
  executionUid: uid,
  executionName: "wfe-disk-1",
  executionNamespace: "kubernaut-system",
  completedAt: later,
};
const failed = { ...end, outcome: "Failed", reason: "TaskRunFailed", wasExecutionFailure: true };
const holder = {
  executionUid: uid,
  executionName: "wfe-disk-1",
  executionNamespace: "kubernaut-system",
  workflowId: "node-disk-cleanup",
  engine: "tekton",
  runUid: uid,
  since: at,
};
const pipelineRunRef = { name: "wfe-ac45b7d6911e97a5", namespace: "kubernaut-workflows", uid, kind: "PipelineRun" };
const pipelineRunStatus = { status: "Unknown", reason: "Running", completedTasks: 1, totalTasks: 3 };
const conditions = [{ type: "Ready", status: "True", lastTransitionTime: at, reason: "Seen", message: "" }];
const failureDetails = {
  reason: "TaskRunFailed",
  message: '"step-clean" exited with code 3',
  failedTaskName: "clean",
  failedStepName: "clean",
  exitCode: 3,
  failedAt: later,
  executionTimeBeforeFailure: "2m30s",
  naturalLanguageSummary: "node-disk-cleanup failed on node/worker-node-1.",
  wasExecutionFailure: true,
  requiresManualReview: true,
};
const diagnosis = {
  target: "node/worker-node-1",
  workflowId: "node-disk-cleanup",
  parameters: { keep: 3 },
  rule: "disk",
};
const deduplication = { firstSeenAt: at, lastSeenAt: later, occurrenceCount: 3, occurrencesByWriter: { "gw-1": 3 } };

const executionStatuses = [
  { phase: "Pending", conditions },
  { phase: "Running", startTime: at, pipelineRunRef, pipelineRunStatus },
  {
    phase: "Completed",
    startTime: at,
    completionTime: later,
    duration: "2m30s",
    outcome: "Success",
    pipelineRunRef,
    pipelineRunStatus,
    consecutiveFailures: 0,
  },
  { phase: "Failed", completionTime: later, outcome: "Failed", failureDetails, nextAllowedExecution: later },
  ...[
    {
      reason: "ResourceBusy",
      conflictingWorkflow: {
        ...execution,
        workflowId: "node-disk-cleanup",
        targetResource: "node/worker-node-1",
        startedAt: at,
      },
    },
    {
      reason: "RecentlyRemediated",
      cause: "cooldown",
      cooldownRemaining: "4m30s",
      recentRemediation: {
        ...execution,
        workflowId: "node-disk-cleanup",
        targetResource: "node/worker-node-1",
        completedAt: at,
        outcome: "Success",
        cooldownRemaining: "4m30s",
      },
    },
    { reason: "PreviousExecutionFailed" },
    { reason: "ExhaustedRetries" },
    { reason: "Paused" },
  ].map((facts) => ({ phase: "Skipped", skipDetails: { message: "held by another", skippedAt: at, ...facts } })),
];

const incidentStatuses = [
  { phase: "Pending", deduplication },
  { phase: "Analyzing", deduplication, startTime: at },
  { phase: "AwaitingApproval", diagnosis },
  { phase: "Executing", diagnosis, executionRefs: [execution] },
  { phase: "Executing", diagnosis, follows: execution },
  { phase: "Verifying", diagnosis, executionRefs: [execution] },
  { phase: "Blocked", diagnosis, block: { reason: "ResourceBusy", message: "held", holder, decision: "d-1" } },
  { phase: "Blocked", block: { reason: "NoMatchingRule", message: "no rule matches" } },
  { phase: "Completed", outcome: "Remediated", completedAt: later, resolvedAt: later, diagnosis },
  { phase: "Failed", outcome: "ApprovalExpired", completedAt: later, requiresManualReview: true },
  { phase: "Withdrawn", outcome: "ResolvedBeforeStart", completedAt: later },
];

const noticeStatuses = [
  { phase: "Pending" },
  {
    phase: "Retrying",
    nextAttemptTime: later,
    deliveryAttempts: [{ channel: "slack", attempt: 1, at, status: "failed" }],
  },
  { phase: "Sent", completionTime: later },
  { phase: "Digested", completionTime: later, digest: "notice-digest-1" },
];

const taskStatuses = [
  { phase: "Pending" },
  { phase: "Waiting", position: 1, holder: { identity: "agent-1", task: "ct-1", since: at } },
  { phase: "Waiting", pause: { name: "pause-1", requestedBy: "ops", reason: "upgrade", until: later } },
  { phase: "Running", startTime: at, steps: [{ name: "clone", completedAt: at, result: { sha } }] },
  { phase: "Completed", startTime: at, completionTime: later, result: { commitSha: sha, mergeRequestIid: 7 } },
  { phase: "Failed", completionTime: later, failure: { reason: "AgentTimedOut", message: "it took too long" } },
  { phase: "Superseded", completionTime: later, supersededBy: sha },
  { phase: "Cancelled", completionTime: later },
];

const targetStatus = {
  holder,
  workflows: [
    {
      workflowId: "node-disk-cleanup",
      lastSuccess: { ...end, outcome: "Success" },
      lastFailure: failed,
      lastExecutionFailure: failed,
      ack: {
        executionUid: uid,
        coversUntil: later,
        by: "ops@example.com",
        verified: true,
        reason: "checked",
        at: later,
      },
      consecutiveFailures: 0,
      recentEnds: [failed],
    },
  ],
};

const project = { host: "gitlab.example.com", id: 42, path: "group/project" };
const task = {
  project,
  targetResource: "git:gitlab.example.com/42@main",
  claimKey: "k",
  source: "webhook",
  receivedTime: at,
};
const mergeRequest = { iid: 7, headSha: sha, sourceBranch: "feature", targetBranch: "main" };

const specs = new Map<Kind, readonly object[]>([
  [
    remediationRequests,
    [
      {
        signalFingerprint: "v1:5feceb66",
        signalName: "NodeDiskPressure",
        signalSource: "alertmanager",
        severity: "critical",
        targetResource: { kind: "Pod", name: "api-7d9", namespace: "prod", apiVersion: "v1" },
        firingTime: at,
        receivedTime: at,
        signalLabels: { alertname: "NodeDiskPressure" },
        originalPayload: "{}",
      },
    ],
  ],
  [
    workflowExecutions,
    [
      {
        workflowRef: {
          workflowId: "node-disk-cleanup",
          version: "1.0.0",
          containerImage: "registry/x:1",
          engine: "tekton",
        },
        targetResource: "node/worker-node-1",
        parameters: { keep: 3, force: true, paths: ["/var/log"], mode: "safe" },
        remediationRequestRef: { name: "rr-1", uid },
      },
    ],
  ],
  [remediationTargets, [{ targetResource: "node/worker-node-1" }]],
  [
    remediationWorkflows,
    [
      {
        workflowId: "node-disk-cleanup",
        version: "1.0.0",
        description: "Frees disk space on a node.",
        engine: "tekton",
        containerImage: "registry/x:1",
        pipeline: "clean",
        parameters: {
          type: "object",
          properties: {
            keep: { type: "integer", minimum: 1, default: 3 },
            mode: { type: "string", enum: ["safe", "hard"], description: "How." },
          },
          required: ["mode"],
        },
        targetKinds: ["node"],
        cooldown: "10m",
        timeout: "30m",
        approval: { required: true, expiresAfter: "15m" },
      },
    ],
  ],
  [
    notificationRequests,
    [
      {
        eventType: "WorkflowFailed",
        severity: "critical",
        message: "node-disk-cleanup failed",
        context: { failureReason: "TaskRunFailed", nextStep: "interlock ack wfe-disk-1 --reason …" },
        remediationRequestRef: { name: "rr-1" },
      },
    ],
  ],
  [
    remediationApprovalRequests,
    [
      {
        remediationRequestRef: { name: "rr-1" },
        targetResource: "node/worker-node-1",
        recommendedWorkflow: { workflowId: "node-disk-cleanup", parameters: { keep: 3 } },
        whyApprovalRequired: "the workflow says so",
        requiredBy: later,
      },
    ],
  ],
  [
    automationPauses,
    [
      { scope: "All", reason: "release", requestedBy: "ops" },
      { scope: "Namespace", targetNamespace: "prod", reason: "release", requestedBy: "ops", until: later },
      { scope: "Target", targetResource: "node/worker-node-1", reason: "repair", requestedBy: "ops" },
      { scope: "Target", targetResource: "git:gitlab.example.com/42@main", reason: "freeze", requestedBy: "ops" },
      { scope: "Target", targetResource: "git:gitlab.example.com/42", reason: "freeze", requestedBy: "ops" },
      { scope: "Workflow", workflowId: "node-disk-cleanup", reason: "broken", requestedBy: "ops" },
    ],
  ],
  [
    codingTasks,
    [
      { type: "Review", ...task, mergeRequest },
      {
        type: "Command",
        ...task,
        mergeRequest,
        note: { id: 9, discussionId: "d", authorId: 7, body: "/copilot fix it", verb: "do", instruction: "fix it" },
      },
      {
        type: "Issue",
        ...task,
        issue: { site: "x.atlassian.net", key: "PROJ-123", since: at, summary: "Fix it" },
        branch: "agent/PROJ-123",
        targetBranch: "main",
      },
    ],
  ],
]);

const statuses = new Map<Kind, readonly object[]>([
  [remediationRequests, incidentStatuses],
  [workflowExecutions, executionStatuses],
  [remediationTargets, [{}, targetStatus]],
  [remediationWorkflows, [{ catalogStatus: "Active" }, { catalogStatus: "Invalid", problems: ["no image"] }]],
  [notificationRequests, noticeStatuses],
  [
    remediationApprovalRequests,
    [
      { decision: "Approved", decidedBy: "ops", decidedAt: later, decisionMessage: "fine" },
      { decision: "Expired", decidedAt: later },
    ],
  ],
  [automationPauses, [{ endedAt: later, endedBy: "ops", endReason: "done" }]],
  [codingTasks, taskStatuses],
]);

/** Valid objects of `kind`: every variant of its spec, and every variant of its status. */
export function samplesOf(kind: Kind): KubeObject[] {
  const some = specs.get(kind) ?? [];
  const withStatus = (statuses.get(kind) ?? []).map((status) => ({ spec: some[0], status }));
  return [...some.map((spec) => ({ spec })), ...withStatus].map((content) => object(kind, content));
}

/** An object of `kind` with `content` in it, valid or not. */
export function object(kind: Kind, content: object): KubeObject {
  const { apiVersion } = kind;
  return { apiVersion, kind: kind.kind, metadata: { name: "sample", namespace: "kubernaut-system" }, ...content };
}

export function executionSample(status?: object): WorkflowExecution {
  const [spec] = specs.get(workflowExecutions) ?? [];
  return object(workflowExecutions, status ? { spec, status } : { spec }) as WorkflowExecution;
}
