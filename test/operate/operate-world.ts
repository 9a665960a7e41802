import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import { type OperateContext, type OperationName, type OperationOutcome, perform } from "../../src/operate/index.ts";
import { defaultPolicy } from "../../src/policy/index.ts";
import {
  automationPauses,
  type CodingTask,
  codingTasks,
  incidentName,
  installCrds,
  listKinds,
  parseTarget,
  type RemediationRequestStatus,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  remediationWorkflows,
  targetHash,
  type WorkflowExecutionStatus,
  type WorkflowHistory,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { draftTask } from "../../src/tasks/index.ts";
import { systemRandom } from "../../src/time/index.ts";
import { ManualClock } from "../doubles/manual-clock.ts";
import { testCluster } from "../doubles/test-cluster.ts";

export const namespace = "kubernaut-system";
export const time = "2026-03-01T12:00:00.000Z";
export const incident = incidentName("v1:abc", 1);

const kinds: readonly ResourceType[] = [
  automationPauses,
  codingTasks,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  workflowExecutions,
];

/** A request without the fields that most tests do not care about. */
export type PartialRequest = Partial<Parameters<typeof perform>[1]>;

/** An embedded API server with one object for each operation, and callers who perform them. */
export class OperateWorld {
  readonly clock = new ManualClock();
  readonly #cluster = testCluster({ clock: this.clock, random: systemRandom(), namespaces: [namespace] });
  readonly client = this.#cluster.client();

  static async open(): Promise<OperateWorld> {
    const world = new OperateWorld();
    await installCrds(world.client);
    await world.#fill();
    return world;
  }

  /** Performs an operation as `by`, at a replica that reaches the API server by `client`. */
  perform(
    operation: OperationName,
    request: PartialRequest,
    { by = "kim", client = this.client }: { readonly by?: string; readonly client?: KubeClient } = {},
  ): Promise<OperationOutcome> {
    const whole = { reason: "looked at it", key: "key-00001", ...request };
    return perform(operation, whole, { name: by, via: "console" }, this.context(client));
  }

  context(client: KubeClient = this.client): OperateContext {
    return {
      client,
      clock: this.clock,
      settings: { ...defaultPolicy, engines: { available: ["tekton"], default: "tekton" } },
      incidentsIn: namespace,
      catalogIn: namespace,
      catalogDefaults: { engine: "tekton", serviceAccountName: undefined, allowOutsideCatalog: false },
      approvalExpiresAfterMs: 3_600_000,
      recordsIn: namespace,
      verification: { graceMs: 120_000, windowMs: 900_000 },
      kinds: () => listKinds(client, []),
      readEvents: async () => undefined,
    };
  }

  /** Everything that operations can change. */
  async objects(): Promise<readonly KubeObject[]> {
    const lists = await Promise.all(kinds.map((type) => this.client.list(type)));
    return lists.flatMap(({ items }) => items);
  }

  async version(type: ResourceType, name: string): Promise<string> {
    return (await this.client.get(type, { namespace, name }))?.metadata.resourceVersion ?? "";
  }

  async create<T extends KubeObject>(type: ResourceType<T>, object: object): Promise<T> {
    const { apiVersion, kind } = type;
    const outcome = await this.client.create(type, { apiVersion, kind, ...object } as unknown as T);
    if (outcome.kind === "created") return outcome.object;
    throw new Error("it exists already");
  }

  async setStatus(type: ResourceType, name: string, status: object): Promise<void> {
    const outcome = await this.client.patch(
      type,
      { namespace, name },
      { merge: { status } },
      { subresource: "status" },
    );
    if (outcome.kind !== "updated") throw new Error(`the status of ${name} was not written: ${outcome.kind}`);
  }

  async execution(name: string, status?: WorkflowExecutionStatus, workflowId = "cleanup"): Promise<string> {
    const { metadata } = await this.create(workflowExecutions, {
      metadata: { name, namespace },
      spec: {
        workflowRef: { workflowId, version: "1", containerImage: "x" },
        targetResource: "node/worker-1",
        parameters: { keep: 3 },
      },
    });
    if (!status) return metadata.uid ?? "";
    await this.setStatus(workflowExecutions, name, { phase: "Pending" });
    await this.setStatus(workflowExecutions, name, status);
    return metadata.uid ?? "";
  }

  async incident(name: string, status: RemediationRequestStatus): Promise<void> {
    await this.create(remediationRequests, {
      metadata: { name, namespace },
      spec: {
        signalFingerprint: `v1:${"0".repeat(64)}`,
        signalName: "DiskFull",
        severity: "critical",
        targetResource: { kind: "Node", name: "worker-1" },
        firingTime: time,
        receivedTime: time,
      },
    });
    await this.setStatus(remediationRequests, name, status);
  }

  async #fill(): Promise<void> {
    for (const workflowId of ["cleanup", "guarded"]) {
      await this.create(remediationWorkflows, {
        metadata: { name: `${workflowId}-1`, namespace },
        spec: {
          workflowId,
          version: "1",
          description: "Does it.",
          containerImage: "x",
          pipeline: "workflow",
          parameters: { properties: { keep: { type: "integer" } } },
          approval: { required: workflowId === "guarded" },
        },
      });
    }
    const uid = await this.execution("failed", failed);
    await this.execution("guarded-failed", failed, "guarded");
    await this.execution("running");
    await this.setStatus(workflowExecutions, "running", { phase: "Pending" });
    await this.incident(incident, {
      ...blocked,
      executionRefs: [{ name: "failed", namespace, uid }],
    });
    await this.create(remediationTargets, {
      metadata: { name: targetHash(target()), namespace },
      spec: { targetResource: "node/worker-1" },
    });
    await this.setStatus(remediationTargets, targetHash(target()), {
      workflows: [workflowHistory("gone", "gone-uid")],
    });
    await this.create(remediationApprovalRequests, {
      metadata: { name: "rar-1", namespace },
      spec: {
        remediationRequestRef: { name: incident, namespace },
        targetResource: "node/worker-1",
        recommendedWorkflow: { workflowId: "cleanup" },
        whyApprovalRequired: "the workflow requires it",
        requiredBy: new Date(this.client.serverNowMs() + 3_600_000).toISOString(),
      },
    });
    await this.create(automationPauses, {
      metadata: { name: "freeze", namespace },
      spec: { scope: "Namespace", targetNamespace: "payment", reason: "release", requestedBy: "lee" },
    });
    await this.create(codingTasks, command());
  }
}

export function target() {
  const read = parseTarget("node/worker-1");
  if (read.kind === "problem") throw new Error(read.problem);
  return read.target;
}

const failed: WorkflowExecutionStatus = {
  phase: "Failed",
  outcome: "Failed",
  completionTime: time,
  failureDetails: {
    reason: "TaskRunFailed",
    message: "it failed",
    failedAt: time,
    naturalLanguageSummary: "It failed.",
    wasExecutionFailure: true,
    requiresManualReview: true,
  },
};

/** An incident that waits for a person. */
export const blocked: RemediationRequestStatus = {
  phase: "Blocked",
  requiresManualReview: true,
  diagnosis: { target: "node/worker-1", workflowId: "cleanup" },
  block: { reason: "PreviousExecutionFailed", message: "It failed. Next: ack" },
};

/** The history of a workflow whose execution `name` failed, and is deleted. */
export function workflowHistory(name: string, executionUid: string): WorkflowHistory {
  const end = {
    executionUid,
    executionName: name,
    executionNamespace: namespace,
    outcome: "Failed",
    completedAt: time,
    reason: "TaskRunFailed",
    wasExecutionFailure: true,
  } as const;
  return {
    workflowId: "cleanup",
    lastFailure: end,
    lastExecutionFailure: end,
    consecutiveFailures: 0,
    recentEnds: [end],
  };
}

function command(): CodingTask {
  const reading = draftTask(
    {
      type: "Command",
      project: { host: "gitlab.example", id: 7, path: "group/app" },
      source: "webhook",
      receivedTime: time,
      requestedBy: "ann",
      claimKey: "note:gitlab.example:7:3:1",
      mergeRequest: { iid: 3, headSha: "a".repeat(40), sourceBranch: "topic", targetBranch: "main" },
      note: { id: 1, authorId: 1, body: "/copilot rename it", verb: "do", instruction: "rename it" },
    },
    namespace,
  );
  if (reading.kind !== "task") throw new Error(reading.problem);
  return reading.task;
}

/** The name of the coding task. */
export const taskName = command().metadata.name ?? "";
