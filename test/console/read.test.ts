import { describe, expect, it } from "vitest";
import {
  type LedgerReader,
  type ReadContext,
  readApproval,
  readConsoleCatalog,
  readExecution,
  readIncident,
  readLedgerPage,
  readRuleTest,
  readStorm,
  readTarget,
} from "../../src/console/read/index.ts";
import { kubernetesLocks, listLocks } from "../../src/coordination/index.ts";
import { isWanted, type LedgerEvent, type LedgerRow } from "../../src/ledger/index.ts";
import {
  type RemediationWorkflow,
  remediationApprovalRequests,
  remediationWorkflows,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { blocked, keys, minute, namespace, ProjectionWorld } from "./projection-world.ts";

describe("the page of an incident", () => {
  it("has its row, its checks, the lines of why and the labels of its signal", async () => {
    const { world, context } = await open(undefined);
    await world.incident("a", blocked("Paused"));

    const detail = await readIncident({ namespace, name: "a" }, context);

    expect(detail).toMatchObject({
      row: { kind: "incidents", lane: "paused", key: `${namespace}/a` },
      labels: { team: "payment" },
      annotations: {},
    });
    expect(detail?.checks.map(({ name }) => name)).toContain("automation is not paused");
    expect(detail?.why.join("\n")).toContain("cleanup on node/worker-1");
  });

  it("has the incidents that follow the same run, and the executions of its own", async () => {
    const { world, context } = await open(undefined);
    await world.execution("run", { phase: "Pending" }, "a");
    const uid = (await world.client.get(workflowExecutions, { namespace, name: "run" }))?.metadata.uid;
    const execution = { name: "run", namespace, uid };
    const diagnosis = { target: "node/worker-1", workflowId: "cleanup" };
    await world.incident("a", { phase: "Executing", diagnosis, executionRefs: [execution] });
    await world.incident("b", { phase: "Executing", diagnosis, follows: execution });
    await world.incident("c", { phase: "Pending" });

    const detail = await readIncident({ namespace, name: "a" }, context);

    expect(keys(detail?.executions)).toEqual(["run"]);
    expect(keys(detail?.followers)).toEqual(["b"]);
  });

  it("has the events of the ledger, oldest first", async () => {
    const { world, context } = await open([
      event("incident.created", 1, { remediation_id: "a", signal_name: "DiskFull" }),
      event("incident.decided", 2, { remediation_id: "a", verdict: "block", reason: "Paused", message: "paused" }),
      event("notice.sent", 3, { remediation_id: "a" }),
    ]);
    await world.incident("a");

    const detail = await readIncident({ namespace, name: "a" }, context);

    expect(detail?.events.map(({ title, lane, tone }) => [title, lane, tone])).toEqual([
      ["DiskFull opened an incident", "signals", "bad"],
      ["blocked: Paused", "decisions", "wait"],
    ]);
  });

  it("has the events that objects show where the ledger cannot be read", async () => {
    const { world, context } = await open(undefined);
    await world.incident("a", blocked("Paused"));

    const detail = await readIncident({ namespace, name: "a" }, context);

    expect(detail?.events.map(({ title }) => title)).toEqual(["DiskFull opened an incident", "blocked: Paused"]);
  });

  it("does not exist without the incident", async () => {
    const { context } = await open();

    expect(await readIncident({ namespace, name: "none" }, context)).toBeUndefined();
  });
});

describe("the page of a target", () => {
  it("has its incidents, its executions, its pauses and why for every workflow", async () => {
    const { world, context } = await open([
      event("execution.started", 1, started),
      event("execution.completed", 2, started),
      event("failure.acknowledged", 3, { target_resource: "node/worker-1", by: "kim", reason: "looked" }),
    ]);
    await world.put<RemediationWorkflow>(remediationWorkflows, workflow());
    await world.record("node/worker-1", {});
    await world.incident("a", blocked("Paused"));
    await world.execution("e", { phase: "Pending" });
    await world.pause("p", { scope: "Target", targetResource: "node/worker-1", requestedBy: "kim", reason: "work" });
    await world.pause("q", { scope: "Namespace", targetNamespace: "other", requestedBy: "kim", reason: "work" });

    const detail = await readTarget("Node/worker-1", context);

    expect(detail).toMatchObject({ target: "node/worker-1", row: { target: "node/worker-1", waiting: 1 } });
    expect(keys(detail.incidents)).toEqual(["a"]);
    expect(keys(detail.executions)).toEqual(["e"]);
    expect(detail.workflows).toMatchObject([{ workflow: "cleanup", isAllowed: false, reason: "Paused" }]);
    expect(detail.events.map(({ title, lane }) => [title, lane])).toEqual([
      ["cleanup succeeded", "runs"],
      ["acknowledged by kim", "operators"],
      ["target node/worker-1 paused by kim", "pauses"],
    ]);
    expect(detail.events[0]).toMatchObject({ at: at(1), until: at(2), link: "/executions/kubernaut-system/e" });
  });

  it("names the workflows for targets of other kinds apart", async () => {
    const { world, context } = await open();
    const other = workflow();
    await world.put<RemediationWorkflow>(remediationWorkflows, {
      ...other,
      spec: { ...other.spec, targetKinds: ["deployment"] },
    });

    const detail = await readTarget("node/worker-1", context);

    expect(detail.workflows).toEqual([]);
    expect(detail.otherWorkflows).toEqual(["cleanup"]);
  });

  it("is refused for a text that is no target", async () => {
    const { context } = await open();

    await expect(readTarget("nonsense", context)).rejects.toThrow('the target "nonsense"');
  });
});

describe("an approval", () => {
  it("is read with why its workflow was chosen, and with its parameters without secrets", async () => {
    const { world, context } = await open();
    await world.put<RemediationWorkflow>(remediationWorkflows, workflow());
    const parameters = { PATH_TO_CLEAN: "/var", SECRET: "hunter3" };
    await world.put(remediationApprovalRequests, {
      metadata: { name: "wanted", namespace },
      spec: {
        targetResource: "node/worker-1",
        recommendedWorkflow: {
          ...{ workflowId: "cleanup", version: "1.0.0", parameters },
          rationale: "kim wants to run it: the password is hunter3",
        },
        whyApprovalRequired: "it drains the node",
        requiredBy: at(60),
      },
    });

    const approval = await readApproval({ namespace, name: "wanted" }, context);

    expect(approval).toMatchObject({
      row: { kind: "approvals", workflow: "cleanup" },
      rationale: "kim wants to run it: the password is [redacted]",
      whyRequired: "it drains the node",
      parameters: { PATH_TO_CLEAN: "/var", SECRET: "[redacted]" },
    });
    expect(await readApproval({ namespace, name: "none" }, context)).toBeUndefined();
  });
});

describe("the page of an execution", () => {
  it("has its parameters without secrets, and no value of an unknown workflow", async () => {
    const { world, context } = await open();
    await world.put<RemediationWorkflow>(remediationWorkflows, workflow());
    const parameters = { PATH_TO_CLEAN: "/var", SECRET: "hunter2", API_TOKEN: "abc" };
    await world.put(workflowExecutions, execution("known", "cleanup", parameters));
    await world.put(workflowExecutions, execution("unknown", "other", parameters));

    const known = await readExecution({ namespace, name: "known" }, context);
    const unknown = await readExecution({ namespace, name: "unknown" }, context);

    expect(known?.parameters).toEqual({ PATH_TO_CLEAN: "/var", SECRET: "[redacted]", API_TOKEN: "[redacted]" });
    expect(Object.values(unknown?.parameters ?? {})).toEqual(["[redacted]", "[redacted]", "[redacted]"]);
    expect(known).toMatchObject({ image: "img", tasks: [] });
  });
});

describe("the page of locks", () => {
  it("has who holds a lock, since when, and with how many waiters", async () => {
    const { world, context } = await open();
    const { client, clock, random } = world;
    const locks = kubernetesLocks({ client, clock, random, namespace, prefix: "ro-lock-", who: "orchestrator at a" });
    const lease = await locks.acquire("target:node/worker-1" as Parameters<typeof locks.acquire>[0], { ttlMs: 30_000 });

    const held = await listLocks(context.client, context.locksIn);
    await lease[Symbol.asyncDispose]();

    expect(held).toEqual([
      {
        key: "target:node/worker-1",
        holder: "orchestrator at a",
        since: expect.any(String),
        expiresAt: expect.any(String),
        fence: expect.any(String),
        waiters: 0,
      },
    ]);
    expect(await listLocks(context.client, context.locksIn)).toEqual([]);
  });
});

describe("the page of a storm", () => {
  it("counts the results of signals, from the ledger", async () => {
    const { context } = await open([
      ...["a", "b", "c", "d", "e", "f"].map((name) => event("incident.created", 0, { remediation_id: name })),
      ...["b", "c", "d", "e"].map((name) => event("signals.counted", 1, { remediation_id: name, occurrences: 1 })),
      event("signals.counted", 1, { remediation_id: "a", occurrences: 95 }),
      event("incident.decided", 1, { remediation_id: "a", verdict: "run" }),
      event("execution.started", 1, { remediation_id: "a" }),
      event("incident.decided", 1, { remediation_id: "b", verdict: "block", reason: "ResourceBusy" }),
      event("incident.decided", 2, { remediation_id: "b", verdict: "follow" }),
      event("incident.decided", 2, { remediation_id: "c", verdict: "block", reason: "RecentlyRemediated" }),
      event("incident.decided", 2, { remediation_id: "d", verdict: "block", reason: "Paused" }),
      event("incident.decided", 2, { remediation_id: "e", verdict: "ask" }),
      event("incident.decided", 2, { remediation_id: "opened earlier", verdict: "follow" }),
    ]);

    const storm = await readStorm("1h", context);

    // The signal that opened "a" is one of its 95; "f" is not counted yet.
    expect(storm.totals).toEqual({
      signals: 100,
      deduplicated: 94,
      incidents: 6,
      followed: 1,
      coolingDown: 1,
      otherwiseBlocked: 1,
      waiting: 2,
      runs: 1,
    });
    expect(storm.times).toHaveLength(60);
    expect(storm.bucketSeconds).toBe(60);
    expect(storm.signals.reduce((sum, one) => sum + one, 0)).toBe(100);
  });

  it("has each incident of the period once, though it was blocked after its run", async () => {
    const { context } = await open([
      event("incident.created", 0, { remediation_id: "a" }),
      event("execution.started", 1, { remediation_id: "a" }),
      event("incident.decided", 2, { remediation_id: "a", verdict: "block", reason: "PreviousExecutionFailed" }),
    ]);

    const { totals } = await readStorm("1h", context);

    expect(totals).toMatchObject({ incidents: 1, runs: 1, otherwiseBlocked: 0, waiting: 0 });
  });

  it("counts the results of incidents where the ledger cannot be read", async () => {
    const { world, context } = await open(undefined);
    const deduplication = { firstSeenAt: at(0), lastSeenAt: at(0), occurrenceCount: 9 };
    await world.incident("a", { ...blocked("RecentlyRemediated", { cause: "cooldown" }), deduplication });
    await world.incident("b", blocked("Paused"));

    const { totals } = await readStorm("1h", context);

    expect(totals).toMatchObject({ signals: 10, deduplicated: 8, incidents: 2, coolingDown: 1, otherwiseBlocked: 1 });
  });

  it("counts a run once where the ledger cannot be read, and the incidents that follow it", async () => {
    const { world, context } = await open(undefined);
    const execution = { name: "run", namespace, uid: "u" };
    const diagnosis = { target: "node/worker-1", workflowId: "cleanup" };
    await world.incident("a", { phase: "Executing", diagnosis, executionRefs: [execution] });
    await world.incident("b", { phase: "Executing", diagnosis, follows: execution });
    await world.incident("c", { phase: "Executing", diagnosis, follows: execution });

    const { totals } = await readStorm("1h", context);

    expect(totals).toMatchObject({ incidents: 3, followed: 2, runs: 1 });
  });

  it("is refused for a window that is no duration", async () => {
    const { context } = await open();

    await expect(readStorm("yesterday", context)).rejects.toThrow("must be a duration");
  });
});

describe("the page of the ledger", () => {
  it("is the newest first, and misses none of one millisecond from page to page", async () => {
    const events = Array.from({ length: 7 }, (_, i) => ({ ...event("run.created", i < 5 ? 1 : i, {}), id: `e${i}` }));
    const reader = ledgerOf(events);

    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = await readLedgerPage(reader, { limit: 2, ...(after && { after }) }, now + 60 * minute);
      ids.push(...page.events.map(({ id }) => id));
      after = page.next;
    } while (after !== undefined);

    expect(ids).toEqual(["e6", "e5", "e4", "e3", "e2", "e1", "e0"]);
  });

  it("reads a small part of a busy hour", async () => {
    const busy = Array.from({ length: 100_000 }, (_, i) => ({ ...event("run.created", i / 2_000, {}), id: `e${i}` }));
    let reads = 0;
    const reader = ledgerOf(busy, () => reads++);

    const page = await readLedgerPage(reader, { limit: 2 }, now + 50 * minute);

    expect(page.events.map(({ id }) => id)).toEqual(["e99999", "e99998"]);
    expect(reads).toBeLessThan(50_000);
  });

  it("finds events by type, target and words", async () => {
    const reader = ledgerOf([
      event("run.created", 1, { target_resource: "node/a", run: "wfe-1" }),
      event("execution.failed", 2, { target_resource: "node/a", workflow_id: "cleanup", message: "disk is Full" }),
      event("execution.failed", 3, { target_resource: "node/b", workflow_id: "cleanup", message: "other" }),
    ]);
    const find = async (query: object) =>
      (await readLedgerPage(reader, { limit: 10, ...query }, now + 60 * minute)).events.map(({ summary }) => summary);

    expect(await find({ search: "full DISK" })).toEqual(["cleanup failed: disk is Full"]);
    expect(await find({ target: "node/a", type: "execution.failed" })).toEqual(["cleanup failed: disk is Full"]);
    await expect(find({ type: "nothing" })).rejects.toThrow("nothing of the type");
  });
});

describe("the catalog", () => {
  it("has the current workflows with defaults as the command line takes them but no secret one, the rules, and every problem", async () => {
    const { world, context } = await open();
    await world.put<RemediationWorkflow>(remediationWorkflows, workflow());

    const catalog = await readConsoleCatalog({
      ...context,
      rules: async () => ({
        rules: [{ name: "disk", match: { signalName: "DiskFull" }, target: "node/a", workflow: "missing" }],
        problems: ["rules/a.yaml:1: is not YAML"],
      }),
    });

    expect(catalog.workflows).toMatchObject([{ id: "cleanup", version: "1.0.0", needsApproval: false }]);
    expect(JSON.stringify(catalog.workflows)).not.toContain("hunter2");
    expect(catalog.workflows[0]?.parameters).toContainEqual({
      name: "KEEP",
      type: "array",
      required: false,
      default: "logs,data",
    });
    expect(catalog.rules).toEqual([{ name: "disk", workflow: "missing", observe: false }]);
    expect(catalog.problems[0]).toBe("rules/a.yaml:1: is not YAML");
    expect(catalog.problems.join()).toContain("rule disk: ");
  });
});

describe("the test of rules", () => {
  it("has the result of gateway, rules and policy for each signal", async () => {
    const { world, context } = await open();
    await world.put<RemediationWorkflow>(remediationWorkflows, workflow());
    const rule = { name: "disk", match: { signalName: "DiskFull" }, target: "node/worker-1", workflow: "cleanup" };
    const tested = {
      ...context,
      rules: async () => ({ rules: [rule], problems: [] }),
      preview: async () => [
        { status: "created", message: "Incident would be opened.", subject: "node/worker-1", spec: diskFull },
        { status: "created", message: "Incident would be opened.", spec: { ...diskFull, signalName: "Other" } },
      ],
    };

    const { signals } = await readRuleTest({ source: "alertmanager", payload: {} }, tested);

    expect(signals).toMatchObject([
      { signal: "DiskFull", rule: "disk", workflow: "cleanup", target: "node/worker-1" },
      { signal: "Other", outcome: "created" },
    ]);
    expect(signals[0]?.lines.join("\n")).toContain("policy");
    expect(signals[1]?.lines.join("\n")).toContain("none applies");
  });

  it("ends after 15 s, however many objects a slow server has to read", async () => {
    const { world, context } = await open();
    const match = { signalName: "DiskFull", object: { phase: "Running" } };
    let asked = 0;
    const tested: ReadContext = {
      ...context,
      rules: async () => ({
        rules: [{ name: "disk", match, target: "node/worker-1", workflow: "cleanup" }],
        problems: [],
      }),
      preview: async () => Array(5).fill({ status: "created", message: "Incident would be opened.", spec: diskFull }),
      async readFacts() {
        asked++;
        await world.clock.advance(10_000);
        const unreadable = { kind: "unreadable", problem: "did not respond" } as const;
        return { object: unreadable, owner: unreadable };
      },
    };

    const failed = readRuleTest({ source: "alertmanager", payload: {} }, tested);

    await expect(failed).rejects.toThrow("only 2 of 5 signals were tested within 15 s");
    expect(asked).toBe(2);
  });
});

const now = 1_700_000_000_000;
const diskFull = {
  signalFingerprint: "f",
  signalName: "DiskFull",
  severity: "warning",
  targetResource: { kind: "Node", name: "worker-1" },
  firingTime: at(0),
  receivedTime: at(0),
};
const started = {
  target_resource: "node/worker-1",
  workflow_id: "cleanup",
  execution: "kubernaut-system/e",
  execution_id: "u1",
};

function at(minutes: number): string {
  return new Date(now + minutes * minute).toISOString();
}

function event(type: LedgerEvent["type"], minutes: number, facts: LedgerEvent["facts"]): LedgerEvent {
  return { id: `${type}/${minutes}/${JSON.stringify(facts)}`, type, at: at(minutes), facts };
}

function workflow() {
  return {
    metadata: { name: "cleanup-1", namespace },
    spec: {
      workflowId: "cleanup",
      version: "1.0.0",
      description: "Cleans a disk.",
      containerImage: "img",
      engine: "tekton",
      parameters: {
        properties: {
          PATH_TO_CLEAN: { type: "string" },
          SECRET: { type: "string", secret: true, default: "hunter2" },
          KEEP: { type: "array", default: ["logs", "data"] },
        },
      },
    },
  };
}

function execution(name: string, workflowId: string, parameters: object) {
  const workflowRef = { workflowId, version: "1.0.0", containerImage: "img" };
  return { metadata: { name, namespace }, spec: { workflowRef, targetResource: "node/worker-1", parameters } };
}

/** A ledger of these events, or none that can be read. */
async function open(...given: readonly [(readonly LedgerEvent[] | undefined)?]) {
  const events = given.length === 0 ? [] : given[0];
  const world = await ProjectionWorld.open();
  await world.clock.advance(3 * minute);
  const cli = new TestCli(world.client, { clock: world.clock });
  const context: ReadContext = {
    client: world.client,
    clock: world.clock,
    settings: cli.settings,
    incidentsIn: cli.incidentsIn,
    catalogIn: cli.catalogIn,
    catalogDefaults: cli.catalogDefaults,
    approvalExpiresAfterMs: cli.approvalExpiresAfterMs,
    recordsIn: cli.recordsIn,
    verification: cli.verification,
    kinds: () => cli.kinds(),
    readFacts: () => cli.readFacts(),
    readEvents: async (subject) => events?.filter((one) => isWanted(one, subject)),
    projection: world.open(),
    locksIn: namespace,
    rules: async () => ({ rules: [], problems: [] }),
    preview: async () => [],
    openLedger: async () => events && ledgerOf(events),
  };
  return { world, context };
}

function ledgerOf(events: readonly LedgerEvent[], onRead = () => {}): LedgerReader {
  return {
    place: "memory",
    async *events(filter) {
      for (const one of events) {
        if (!isWanted(one, filter)) continue;
        onRead();
        yield { ...one, writer: "w", seq: 1 } as unknown as LedgerRow;
      }
    },
    writers: async () => [],
    head: async () => undefined,
    async *lines() {},
    close: async () => {},
  };
}
