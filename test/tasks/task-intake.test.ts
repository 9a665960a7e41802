import { beforeEach, describe, expect, it } from "vitest";
import { type Claims, CoordinationError, memoryClaims } from "../../src/coordination/index.ts";
import { type KubeClient, KubeError } from "../../src/kube/index.ts";
import { memoryLedger } from "../../src/ledger/index.ts";
import { type CodingTask, codingTasks, installCrds } from "../../src/resources/index.ts";
import { claimKeys, type TaskDraft, type TaskIntake, taskIntake, webhookIntake } from "../../src/tasks/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { recordingLogger } from "../doubles/recording-logger.ts";
import { testCluster } from "../doubles/test-cluster.ts";

const namespace = "kubernaut-system";
const [clock, random] = [systemClock(), systemRandom()];

let client: KubeClient;
let ledger: ReturnType<typeof memoryLedger>;

beforeEach(async () => {
  client = testCluster({ clock, random, namespaces: [namespace] }).client();
  ledger = memoryLedger();
  await installCrds(client);
});

describe("a draft", () => {
  it("becomes one task and one ledger event, whether a webhook, a poll or a command brings it first", async () => {
    const webhooks = openWebhooks();
    const admission = await webhooks.admit({ object: "merge_request", outcome: { kind: "task", draft: draft() } }, "1");

    const polled = await openIntake().create({ ...draft(), source: "poll" });
    const commanded = await openIntake().create({ ...draft(), source: "api" });

    const [task, ...others] = await listTasks();
    expect(others).toEqual([]);
    expect(admission).toEqual({ kind: "queued", task: task?.metadata.name });
    expect([polled, commanded]).toEqual([
      { kind: "existing", task },
      { kind: "existing", task },
    ]);
    expect(receivedEvents()).toEqual([`${task?.metadata.uid}/task.received`]);
  });

  it("is recorded by the next process if its creator dies first", async () => {
    const dying = taskIntake({ ...deps(), ledger: { ...ledger, append: () => Promise.reject(new Error("killed")) } });
    await expect(dying.create(draft())).rejects.toThrow("killed");

    await openIntake().create(draft());

    expect(receivedEvents()).toHaveLength(1);
  });

  it("is recorded again when its task was deleted and is created anew", async () => {
    const intake = openIntake();
    await intake.create(draft());
    const [first] = await listTasks();
    await client.delete(codingTasks, { namespace, name: first?.metadata.name ?? "" });

    const again = await intake.create(draft());

    expect(again.kind).toBe("created");
    expect(receivedEvents()).toHaveLength(2);
  });

  it("becomes a task again if the existing one is superseded: its commit is the head again", async () => {
    const intake = openIntake();
    await intake.create(draft());
    const [first] = await listTasks();
    if (!first) throw new Error("the task has to exist");
    const status = {
      phase: "Superseded",
      supersededBy: "b".repeat(40),
      completionTime: intake.now(),
      attempts: 1,
    } as const;
    await client.update(codingTasks, { ...first, status }, { subresource: "status" });

    const [again, repeated] = [await intake.create(draft()), await intake.create(draft())];

    expect([again.kind, repeated.kind]).toEqual(["created", "existing"]);
    expect(await listTasks()).toHaveLength(2);
  });

  it("becomes a task again however often it is superseded: two commits replace one another", async () => {
    const intake = openIntake();
    const rounds = 30;

    for (let round = 0; round < rounds; round++) {
      const { kind, task } = await create(intake);
      expect(kind).toBe("created");
      const superseded = { phase: "Superseded", supersededBy: "b".repeat(40), completionTime: intake.now() } as const;
      await client.update(codingTasks, { ...task, status: superseded }, { subresource: "status" });
    }

    expect(await listTasks()).toHaveLength(rounds);
  });

  it("becomes one task although deliveries cannot be claimed: GitLab sends a rejected webhook only once", async () => {
    const claim = () => Promise.reject(new CoordinationError("unavailable", "redis does not respond"));
    const webhooks = openWebhooks(client, { ...memoryClaims({ clock, random }), claim });
    const report = { object: "merge_request", outcome: { kind: "task", draft: draft() } } as const;

    const admissions = [await webhooks.admit(report, "1"), await webhooks.admit(report, "1")];

    const [task] = await listTasks();
    expect(admissions).toEqual([
      { kind: "queued", task: task?.metadata.name },
      { kind: "duplicate", of: "task", task: task?.metadata.name },
    ]);
  });

  it("that the API server refuses is ignored with its reason, also on a repeated delivery", async () => {
    const create = (async () => {
      throw new KubeError("invalid", "spec.branch is too long");
    }) as KubeClient["create"];
    const webhooks = openWebhooks({ ...client, create });
    const report = { object: "merge_request", outcome: { kind: "task", draft: draft() } } as const;

    const admissions = [await webhooks.admit(report, "1"), await webhooks.admit(report, "1")];

    const because = "it cannot become a task: spec.branch is too long";
    const ignored = { kind: "ignored", reason: "Unreadable", because };
    expect(admissions).toEqual([ignored, ignored]);
  });
});

describe("an ignored report", () => {
  const report = { subject: { object: "issue", issue: "APP-1" }, reason: "Unreadable", because: "no branch" } as const;

  it("is recorded once for a poll that finds it each time, and each time for a webhook", async () => {
    const intake = openIntake();

    for (const source of ["poll", "poll", "webhook"] as const) await intake.recordIgnored({ ...report, source });

    const sources = ledger.events().map(({ facts }) => facts?.["source"]);
    expect(sources).toEqual(["poll", "webhook"]);
  });
});

async function create(intake: TaskIntake) {
  const creation = await intake.create(draft());
  if (creation.kind === "refused") throw new Error(creation.problem);
  return creation;
}

function deps(use = client) {
  return { client: use, ledger, namespace, log: recordingLogger() };
}

function openIntake(use = client) {
  return taskIntake(deps(use));
}

function openWebhooks(use = client, claims: Claims = memoryClaims({ clock, random })) {
  return webhookIntake({
    ...{ intake: openIntake(use), claims, rememberMs: 60_000 },
    ...{ log: recordingLogger(), metrics: promMetrics() },
  });
}

async function listTasks(): Promise<readonly CodingTask[]> {
  return (await client.list(codingTasks, { namespace })).items;
}

function receivedEvents(): readonly string[] {
  const received = ledger.events().filter(({ type }) => type === "task.received");
  return [...new Set(received.map(({ id }) => id))];
}

function draft(): TaskDraft {
  const project = { host: "gitlab.example.com", id: 5, path: "group/app" };
  const mergeRequest = { iid: 7, headSha: "a".repeat(40), sourceBranch: "topic", targetBranch: "main" };
  const claimKey = claimKeys.review({ host: project.host, projectId: project.id, iid: 7 }, mergeRequest.headSha);
  return {
    ...{ type: "Review", project, mergeRequest, claimKey },
    ...{ source: "webhook", receivedTime: "2026-11-15T06:00:00.000Z" },
  };
}
