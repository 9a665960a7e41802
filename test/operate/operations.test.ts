import { beforeEach, describe, expect, it } from "vitest";
import type { KubeClient, ResourceType } from "../../src/kube/index.ts";
import {
  annotationKeys,
  automationPauses,
  readCancelRequest,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  remediationWorkflows,
  targetHash,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { blocked, incident, namespace, OperateWorld, target, time, workflowHistory } from "./operate-world.ts";

const { acknowledge, acknowledgedBy, acknowledgedExecution } = annotationKeys;

let world: OperateWorld;
beforeEach(async () => {
  world = await OperateWorld.open();
});

describe("ack", () => {
  it("is recorded on the execution with caller and reason", async () => {
    const { message } = await world.perform("ack", { object: "failed", reason: "replaced the disk" });

    expect(message).toBe("failed is acknowledged by kim: cleanup may act on node/worker-1 again");
    expect(await annotations(workflowExecutions, "failed")).toEqual({
      [acknowledge]: "replaced the disk",
      [acknowledgedBy]: "kim",
    });
  });

  it.each(["failed", incident, "gone"])(
    "of %s is a conflict if another caller was first, who is named",
    async (object) => {
      await world.perform("ack", { object }, { by: "lee" });

      await expect(world.perform("ack", { object })).rejects.toMatchObject({
        code: "conflict",
        message: expect.stringMatching(
          /acknowledged already by lee: looked at it|another acknowledgement on node\/worker-1/,
        ),
      });
    },
  );

  it("of an incident answers again after the orchestrator has moved it to the record of the target", async () => {
    await world.perform("ack", { object: incident });
    await moveToRecord();

    const { message } = await world.perform("ack", { object: incident });

    expect(message).toMatch(/^rr-\w+-1 is acknowledged by kim$/);
  });

  it("of an incident answers again after an executor has folded it into the record", async () => {
    await world.perform("ack", { object: incident });
    await moveToRecord();
    const ack = { executionUid: "x", coversUntil: time, by: "kim", verified: false, reason: "looked at it" };
    const at = new Date(world.client.serverNowMs() + 1_000).toISOString();
    await setWorkflows([{ ...workflowHistory("gone", "gone-uid"), ack: { ...ack, at } }]);

    await expect(world.perform("ack", { object: incident })).resolves.toMatchObject({ kind: "incidents" });
    await expect(world.perform("ack", { object: incident }, { by: "lee" })).rejects.toMatchObject({ code: "conflict" });
  });

  it("of an incident that its failed execution has closed is recorded on that execution, once", async () => {
    await world.setStatus(remediationRequests, incident, closedByFailure);
    const ifVersion = await world.version(remediationRequests, incident);

    const { message } = await world.perform("ack", { object: incident, ifVersion });

    expect(message).toBe("failed is acknowledged by kim: cleanup may act on node/worker-1 again");
    expect(await annotations(workflowExecutions, "failed")).toMatchObject({ [acknowledgedBy]: "kim" });
    await expect(world.perform("ack", { object: incident, ifVersion })).resolves.toMatchObject({ message });
    await expect(world.perform("ack", { object: incident }, { by: "lee" })).rejects.toMatchObject({ code: "conflict" });
  });

  it("of such an incident at an older version is a conflict", async () => {
    const ifVersion = await world.version(remediationRequests, incident);
    await world.setStatus(remediationRequests, incident, closedByFailure);

    await expect(world.perform("ack", { object: incident, ifVersion })).rejects.toMatchObject({ code: "conflict" });
    expect(await annotations(workflowExecutions, "failed")).toBeUndefined();
  });

  it("of such an incident whose execution was deleted is recorded on the target", async () => {
    const executionRefs = [{ name: "gone", namespace, uid: "gone-uid" }];
    await world.setStatus(remediationRequests, incident, { ...closedByFailure, executionRefs });

    await world.perform("ack", { object: incident });

    expect(await annotations(remediationTargets, targetHash(target()))).toMatchObject({
      [acknowledgedExecution]: "gone-uid",
    });
  });

  it("of an incident that does not wait for an operator is a conflict with the next step", async () => {
    await world.setStatus(remediationRequests, incident, { ...blocked, requiresManualReview: false });

    await expect(world.perform("ack", { object: incident })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("does not wait for an acknowledgement"),
      hint: expect.stringMatching(/interlock why rr-\w{8}-1$/),
      current: { metadata: { name: incident } },
    });
  });

  it("of a deleted execution does not replace one on the record that no executor has folded yet", async () => {
    await setWorkflows([
      workflowHistory("gone", "gone-uid"),
      { ...workflowHistory("lost", "lost-uid"), workflowId: "guarded" },
    ]);
    await world.perform("ack", { object: "gone" });

    await expect(world.perform("ack", { object: "lost" })).rejects.toMatchObject({
      code: "conflict",
      message: "another acknowledgement on node/worker-1 is being recorded",
    });
    expect(await annotations(remediationTargets, targetHash(target()))).toMatchObject({
      [acknowledgedExecution]: "gone-uid",
    });
  });

  it("of an execution that has not ended is a conflict", async () => {
    await expect(world.perform("ack", { object: "running" })).rejects.toMatchObject({
      code: "conflict",
      message: "execution running is Pending: there is nothing to acknowledge",
    });
  });

  const closedByFailure = { phase: "Failed", outcome: "ExecutionFailed", completedAt: time, block: null };

  async function moveToRecord() {
    const merge = (found: object) => ({ merge: { metadata: { annotations: found } } });
    const name = targetHash(target());
    const given = { [acknowledge]: "looked at it", [acknowledgedBy]: "kim", [acknowledgedExecution]: "x" };
    await world.client.patch(remediationTargets, { namespace, name }, merge(given));
    const none = { [acknowledge]: null, [acknowledgedBy]: null };
    await world.client.patch(remediationRequests, { namespace, name: incident }, merge(none));
    const { diagnosis } = blocked;
    await world.client.patch(
      remediationRequests,
      { namespace, name: incident },
      { merge: { status: { phase: "Executing", diagnosis, block: null, requiresManualReview: null } } },
      { subresource: "status" },
    );
  }

  async function setWorkflows(workflows: readonly object[]) {
    await world.setStatus(remediationTargets, targetHash(target()), { workflows });
  }
});

describe("approve and reject", () => {
  it("record the answer with caller, interface and reason", async () => {
    await world.perform("approve", { object: "rar-1" });

    expect((await world.client.get(remediationApprovalRequests, { namespace, name: "rar-1" }))?.status).toEqual({
      decision: "Approved",
      decidedBy: "kim",
      decidedVia: "console",
      decidedAt: new Date(world.client.serverNowMs()).toISOString(),
      decisionMessage: "looked at it",
    });
  });

  it.each([
    ["reject", "kim"],
    ["approve", "lee"],
    ["reject", "lee"],
  ] as const)("%s of %s after the approval of kim is a conflict with that answer", async (operation, by) => {
    await world.perform("approve", { object: "rar-1" });

    await expect(world.perform(operation, { object: "rar-1" }, { by })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/^rar-1 was answered already: Approved by kim at \S+$/),
      current: { status: { decision: "Approved" } },
    });
  });

  it("are a conflict after the deadline", async () => {
    await world.clock.advance(3_600_000);

    await expect(world.perform("approve", { object: "rar-1" })).rejects.toMatchObject({ code: "conflict" });
  });
});

describe("pause", () => {
  it("is a pause for each caller, even with the same key", async () => {
    const [one, other] = [await pause("kim", ["all"]), await pause("lee", ["all"])];

    expect(one.object).not.toBe(other.object);
  });

  it("is a conflict with a key that was used for another scope", async () => {
    const { object } = await pause("kim", ["all"]);

    await expect(pause("kim", ["namespace", "payment"])).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("the key was used already for another request"),
      hint: "send this one with a new key",
      current: { metadata: { name: object?.split("/")[1] } },
    });
  });

  it("answers with its end if the pause of the first request was ended since", async () => {
    const { object = "" } = await pause("kim", ["all"]);
    await world.perform("resume", { object }, { by: "lee" });

    expect((await pause("kim", ["all"])).message).toMatch(
      /^pause-\w{12}: the pause of all automation has ended already$/,
    );
  });

  it("keeps the end of the first request when it is sent again later", async () => {
    const first = await world.perform("pause", { scope: ["all"], for: "2h" });
    await world.clock.advance(60_000);

    expect(await world.perform("pause", { scope: ["all"], for: "2h" })).toEqual(first);
  });

  const pause = (by: string, scope: readonly string[]) => world.perform("pause", { scope }, { by });
});

describe("resume", () => {
  it("is a conflict if another caller has ended the pause, who is named", async () => {
    await world.perform("resume", { object: "freeze", reason: "it is out" }, { by: "lee" });

    await expect(world.perform("resume", { object: "freeze" })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/^freeze was ended already by lee at \S+: it is out$/),
    });
  });

  it("of a pause in a namespace that has no such pause ends none of another namespace", async () => {
    await expect(world.perform("resume", { object: "elsewhere/freeze" })).rejects.toMatchObject({ code: "not-found" });

    await expect(world.perform("resume", { object: `${namespace}/freeze` })).resolves.toMatchObject({ kind: "pauses" });
  });

  it("of a scope ends every pause of it, and the remaining ones after an interrupted attempt", async () => {
    await world.perform("pause", { scope: ["namespace", "payment"] });
    let left = 1;
    const client: KubeClient = {
      ...world.client,
      patch: (type, ref, patch, call) =>
        left-- > 0 ? world.client.patch(type, ref, patch, call) : Promise.reject(new Error("the process ends")),
    };
    const request = { scope: ["namespace", "payment"] };
    await expect(world.perform("resume", request, { client })).rejects.toThrow("the process ends");

    const { message } = await world.perform("resume", request);

    expect(message).toMatch(/^freeze and pause-\w+ have ended, which covered automation in namespace payment$/);
    const { items } = await world.client.list(automationPauses);
    expect(items.map(({ status }) => status?.endedBy)).toEqual(["kim", "kim"]);
  });

  it("of a scope that is not paused lists what is", async () => {
    await expect(world.perform("resume", { scope: ["all"] })).rejects.toMatchObject({
      code: "conflict",
      message: 'no active pause has exactly the scope "all automation"',
      hint: "active pauses: freeze (automation in namespace payment)",
    });
  });
});

describe("cancel", () => {
  it("of what another caller is cancelling changes nothing, and names that caller", async () => {
    await world.perform("cancel", { object: "running", reason: "wrong node" }, { by: "lee" });
    const before = await world.objects();

    const { message } = await world.perform("cancel", { object: "running" });

    expect(message).toBe("running is being cancelled already, by lee: wrong node; see: interlock why running");
    expect(await world.objects()).toEqual(before);
  });

  it("adds a block to an earlier request, and never removes it", async () => {
    await world.perform("cancel", { object: "running" }, { by: "lee" });
    await world.perform("cancel", { object: "running", block: true });
    await world.perform("cancel", { object: "running" }, { by: "lee" });

    const running = await world.client.get(workflowExecutions, { namespace, name: "running" });
    expect(running && readCancelRequest(running)).toEqual({ by: "kim", reason: "looked at it", blocks: true });
  });

  it("of an execution that has ended is no error, and changes nothing", async () => {
    const before = await world.objects();

    const { message } = await world.perform("cancel", { object: "failed" });

    expect(message).toBe("failed has ended already, Failed: there is nothing to cancel");
    expect(await world.objects()).toEqual(before);
  });
});

describe("run", () => {
  const request = { workflow: "cleanup", target: "nodes/worker-1", parameters: { keep: "3" } };

  it("creates an execution with the caller and the reason", async () => {
    const { object = "", kind } = await world.perform("run", { ...request, reason: "disk is full" });

    expect(kind).toBe("executions");
    expect(await execution(object)).toMatchObject({
      metadata: {
        annotations: { [annotationKeys.requestedBy]: "kim", [annotationKeys.requestReason]: "disk is full" },
      },
      spec: {
        workflowRef: { workflowId: "cleanup", version: "1", containerImage: "x" },
        targetResource: "node/worker-1",
        parameters: { keep: 3 },
      },
    });
  });

  it("is a conflict with a key that was used for another target", async () => {
    await world.perform("run", request);

    await expect(world.perform("run", { ...request, target: "node/worker-2" })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("the key was used already"),
    });
  });

  it("creates one execution with the approval that the first request asked for", async () => {
    const guarded = { workflow: "guarded", target: "node/worker-1" };
    const asked = await world.perform("run", guarded);
    expect(asked.kind).toBe("approvals");
    const approval = asked.object?.split("/")[1] ?? "";

    const { object = "" } = await world.perform("run", { ...guarded, approval });

    expect(await world.perform("run", { ...guarded, approval })).toMatchObject({ object });
    expect((await execution(object))?.metadata.annotations).toMatchObject({ [annotationKeys.approval]: approval });
  });

  it.each([
    [{ workflow: "clean" }, "not-found", "there is no workflow clean"],
    [{ target: "widget/one" }, "invalid", 'the target "widget/one"'],
    [{ parameters: { keep: "three" } }, "invalid", "the parameters do not fit the workflow:"],
    [{ parameters: { kep: "3" } }, "invalid", "the parameters do not fit the workflow:"],
  ])("with %j fails as %s, also in a dry run", async (wrong, code, message) => {
    for (const dryRun of [true, false]) {
      await expect(world.perform("run", { ...request, ...wrong, dryRun })).rejects.toMatchObject({
        code,
        message: expect.stringContaining(message),
      });
    }
  });

  it("prints the current decision of the policy in a dry run", async () => {
    expect((await world.perform("run", { ...request, target: "node/worker-2", dryRun: true })).notes[0]).toBe(
      "the policy decides now: may run now",
    );
    await world.perform("pause", { scope: ["all"] });

    const { notes } = await world.perform("run", { ...request, target: "node/worker-2", dryRun: true });

    expect(notes[0]).toMatch(/^the policy decides now: not now, Paused: paused: pause-\w+ by kim/);
  });
});

describe("retry", () => {
  it.each(["failed", incident])(
    "of %s runs the same workflow with the same parameters on the same target",
    async (object) => {
      const { object: created = "" } = await world.perform("retry", { object });

      expect(await execution(created)).toMatchObject({
        metadata: { annotations: { [annotationKeys.retryOf]: "failed", [annotationKeys.requestedBy]: "kim" } },
        spec: {
          workflowRef: { workflowId: "cleanup", version: "1" },
          targetResource: "node/worker-1",
          parameters: { keep: 3 },
        },
      });
    },
  );

  it("runs the version that the catalog has now", async () => {
    const spec = { workflowId: "cleanup", version: "2", description: "x", containerImage: "y", pipeline: "workflow" };
    await world.create(remediationWorkflows, {
      metadata: { name: "cleanup-2", namespace },
      spec: { ...spec, parameters: { properties: { keep: { type: "integer" } } } },
    });

    const { object = "" } = await world.perform("retry", { object: "failed" });

    expect((await execution(object))?.spec.workflowRef).toMatchObject({ version: "2", containerImage: "y" });
  });

  it("of an incident answers the same after the incident has had another execution", async () => {
    const first = await world.perform("retry", { object: incident });
    const uid = await world.execution("another");
    await world.setStatus(remediationRequests, incident, { executionRefs: [{ name: "another", namespace, uid }] });

    expect(await world.perform("retry", { object: incident })).toEqual(first);
    await expect(world.perform("retry", { object: incident, key: "key-00002" })).rejects.toMatchObject({
      code: "conflict",
      message: "execution another is new: it can be retried when it has ended",
    });
  });

  it("of an incident without an execution is a conflict", async () => {
    await world.setStatus(remediationRequests, incident, { executionRefs: null });

    await expect(world.perform("retry", { object: incident })).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(/^incident rr-\w{8}-1 has no execution$/),
    });
  });
});

describe("a request", () => {
  it.each([
    ["ack", { object: "failed", reason: "  " }, "reason must not be empty"],
    ["ack", { object: "failed", key: "short" }, "key must be 8 to 64 characters"],
    ["ack", { object: "failed", key: "../../etc" }, "key must be 8 to 64 characters"],
    ["ack", {}, "object is missing"],
    ["ack", { object: "failed", block: true }, "block is not a known field"],
    ["pause", { scope: ["all"], object: "x" }, "object is not a known field"],
    ["pause", { scope: ["all"], ifVersion: "1" }, "ifVersion is not a known field"],
    ["resume", {}, "must have either an object or a scope"],
    ["resume", { object: "freeze", scope: ["all"] }, "must have either an object or a scope"],
    ["resume", { scope: ["all"], ifVersion: "1" }, "must have an object for ifVersion"],
    ["run", { workflow: "cleanup" }, "target is missing"],
  ] as const)("to %s with %j is invalid", async (operation, request, problem) => {
    await expect(world.perform(operation, request)).rejects.toMatchObject({
      code: "invalid",
      details: expect.arrayContaining([expect.stringContaining(problem)]),
    });
  });

  it("with a text as scope has that one problem", async () => {
    await expect(world.perform("pause", { scope: "namespace payment" as never })).rejects.toMatchObject({
      details: ["scope must be a list, not text"],
    });
  });

  it.each(["ack", "approve", "reject", "resume", "cancel", "retry"] as const)(
    "to %s for an object that does not exist is not found",
    async (operation) => {
      const before = await world.objects();

      const attempt = world.perform(operation, { object: `${namespace}/nothing` });

      await expect(attempt).rejects.toMatchObject({ code: "not-found", hint: expect.any(String) });
      expect(await world.objects()).toEqual(before);
    },
  );

  it.each([
    [
      "ack",
      { object: `${namespace}/${incident}` },
      /^interlock ack rr-\w{8}-1 --namespace kubernaut-system '--reason=looked at it'$/,
    ],
    [
      "cancel",
      { object: "running", block: true, reason: "it's --wrong" },
      /^interlock cancel running --block '--reason=it'\\''s --wrong'$/,
    ],
    [
      "pause",
      { scope: ["namespace", "payment"], for: "2h", reason: "x" },
      /^interlock pause namespace payment --for 2h --reason=x$/,
    ],
    ["resume", { object: "freeze", reason: "$(rm -r /)" }, /^interlock resume freeze '--reason=\$\(rm -r \/\)'$/],
    [
      "run",
      { workflow: "cleanup", target: "node/worker-1", parameters: { keep: "3" }, reason: "x", dryRun: true },
      /^interlock run cleanup --target node\/worker-1 --param keep=3 --dry-run --reason=x$/,
    ],
  ] as const)("to %s with %j is returned as a command line", async (operation, request, command) => {
    expect((await world.perform(operation, request)).command).toMatch(command);
  });
});

function execution(object: string) {
  return world.client.get(workflowExecutions, { namespace, name: object.split("/")[1] ?? "" });
}

async function annotations(type: ResourceType, name: string) {
  return (await world.client.get(type, { namespace, name }))?.metadata.annotations;
}
