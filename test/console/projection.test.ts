import { describe, expect, it } from "vitest";
import type { IncidentRow, Now, PauseRow, TargetRow } from "../../src/console/wire.ts";
import { KubeError } from "../../src/kube/index.ts";
import { blocked, keys, minute, ProjectionWorld } from "./projection-world.ts";

const diagnosis = { target: "node/worker-1", workflowId: "cleanup", rule: "disk" };
const closed = { phase: "Completed", outcome: "Remediated", completedAt: "2023-11-14T22:13:20Z" };

describe("a projection", () => {
  it("has the rows of all objects, and every change as it happens", async () => {
    const world = await ProjectionWorld.open();
    await world.incident("a");
    const projection = world.open();
    const { version } = await projection.page("incidents", { filter: {}, limit: 10 });
    const viewer = world.view(projection, ["incidents"], version);

    await world.incident("b");
    await world.incident("a", { phase: "Analyzing" });
    await world.pass();
    await world.deleteIncident("b");
    await world.pass();

    const [first, second] = viewer.changes();
    expect(keys(first?.changed).toSorted()).toEqual(["a", "b"]);
    expect(first?.removed).toEqual([]);
    expect(second).toEqual({ changed: [], removed: [{ kind: "incidents", key: "kubernaut-system/b" }] });
    expect(keys((await projection.page("incidents", { filter: {}, limit: 10 })).rows)).toEqual(["a"]);
    await viewer.leave();
    projection.close();
  });

  it("sends the changes of 100 ms together, each row once as it is then", async () => {
    const world = await ProjectionWorld.open();
    const projection = world.open();
    const viewer = world.view(projection, ["incidents"], (await projection.now()).version);

    await world.incident("a");
    for (const phase of ["Pending", "Analyzing"]) await world.incident("a", { phase });
    await world.pass();

    expect(viewer.changes()).toHaveLength(1);
    expect(viewer.changes()[0]?.changed).toEqual([expect.objectContaining({ phase: "Analyzing" })]);
    projection.close();
  });

  it("sends a change once to a viewer that joins before the change is sent to all", async () => {
    const world = await ProjectionWorld.open();
    const projection = world.open();
    const { version } = await projection.now();
    await world.incident("a");
    await world.pass(0);

    const viewer = world.view(projection, ["incidents"], version);
    await world.pass(0);
    await world.pass();

    expect(viewer.changes().flatMap(({ changed }) => keys(changed))).toEqual(["a"]);
    projection.close();
  });

  it("sends a viewer only the kinds that it asked for", async () => {
    const world = await ProjectionWorld.open();
    const projection = world.open();
    const viewer = world.view(projection, ["executions"], (await projection.now()).version);

    await world.incident("a");
    await world.execution("e");
    await world.pass();

    expect(viewer.changes().flatMap(({ changed }) => keys(changed))).toEqual(["e"]);
    projection.close();
  });

  it("watches nothing before its first reader, and stops some minutes after its last", async () => {
    const world = await ProjectionWorld.open();
    const calls: string[] = [];
    const client = {
      ...world.client,
      list: ((type, ...rest) => {
        calls.push(type.plural);
        return world.client.list(type, ...rest);
      }) as typeof world.client.list,
    };
    const projection = world.open(client);
    await world.pass();
    expect(calls).toEqual([]);

    await projection.now();
    const started = calls.length;
    await world.pass(4 * minute);
    await projection.now();
    await world.pass(4 * minute);
    const afterSecond = calls.length;
    await world.pass(2 * minute);
    const timersAfterStop = world.clock.pendingTimers;
    await projection.now();

    expect(started).toBe(7);
    expect(afterSecond).toBe(7);
    expect(timersAfterStop).toBe(0);
    expect(calls).toHaveLength(14);
    projection.close();
  });

  it("stays while a viewer is there, however long nothing changes", async () => {
    const world = await ProjectionWorld.open();
    const projection = world.open();
    const viewer = world.view(projection, ["incidents"], (await projection.now()).version);
    await world.pass(20 * minute);

    await world.incident("a");
    await world.pass();

    expect(viewer.changes().flatMap(({ changed }) => keys(changed))).toEqual(["a"]);
    await viewer.leave();
    projection.close();
  });

  it("keeps no object: a row holds none of the texts of its signal", async () => {
    const world = await ProjectionWorld.open();
    await world.incident("a");
    const projection = world.open();

    const { rows } = await projection.page("incidents", { filter: {}, limit: 10 });

    expect(JSON.stringify(rows)).not.toContain("xxx");
    projection.close();
  });
});

describe("a viewer that comes back", () => {
  it("gets exactly what changed since its last event, also from another replica", async () => {
    const world = await ProjectionWorld.open();
    await world.incident("a");
    await world.incident("b");
    const [one, other] = [world.open(), world.open()];
    await other.now();
    const viewer = world.view(one, ["incidents"], (await one.now()).version);
    await world.incident("c");
    await world.pass();
    const lastId = viewer.events.findLast(({ id }) => id !== undefined)?.id ?? "";
    await viewer.leave();
    one.close();

    await world.incident("d");
    await world.deleteIncident("b");
    await world.pass();
    const again = world.view(other, ["incidents"], lastId);
    await world.pass();

    const [missed] = again.changes();
    expect(keys(missed?.changed)).toEqual(["d"]);
    expect(missed?.removed).toEqual([{ kind: "incidents", key: "kubernaut-system/b" }]);
    expect(again.events.some(({ event }) => event === "reset")).toBe(false);
    other.close();
  });

  it("waits for a replica that is behind, and is never set back in time", async () => {
    const world = await ProjectionWorld.open();
    const [ahead, behind] = [world.open(), world.open(slowWatches(world))];
    await behind.now();
    await world.incident("a", { phase: "Pending" });
    await world.incident("a", { phase: "Analyzing" });
    const { version } = await ahead.now();

    const viewer = world.view(behind, ["incidents"], version);
    await world.pass(10_000);

    const phases = viewer.changes().flatMap(({ changed = [] }) => changed.map((row) => (row as IncidentRow).phase));
    expect(phases.every((phase) => phase === "Analyzing")).toBe(true);
    ahead.close();
    behind.close();
  });

  it.each([
    ["after a restart during which objects changed", async (world: ProjectionWorld) => world.incident("b")],
    ["after a restart during which objects were deleted", async (world: ProjectionWorld) => world.deleteIncident("a")],
  ])("reads its rows again %s", async (_name, change) => {
    const world = await ProjectionWorld.open();
    await world.incident("a");
    const before = world.open();
    const { version } = await before.now();
    before.close();
    await change(world);

    const after = world.open();
    const viewer = world.view(after, ["incidents"], version);
    await world.pass();

    expect(viewer.events.map(({ event }) => event)).toContain("reset");
    after.close();
  });

  it.each(["", "x", "1--1.2.3", "9--0.0.0.0.0.0.0", "1-zzzz-9.9.9.9.9.9.9"])(
    "reads its rows again with the unknown version %j",
    async (version) => {
      const world = await ProjectionWorld.open();
      const projection = world.open();
      await projection.now();

      const viewer = world.view(projection, ["incidents"], version);
      await world.pass();

      expect(viewer.events.map(({ event }) => event)).toContain("reset");
      projection.close();
    },
  );

  it("reads its rows again when more changed than is kept", async () => {
    const world = await ProjectionWorld.open();
    const projection = world.open();
    const { version } = await projection.now();
    for (let i = 0; i < 2_100; i++) await world.incident(`i${i}`);
    await world.pass();

    const viewer = world.view(projection, ["incidents"], version);
    await world.pass();

    expect(viewer.events.map(({ event }) => event)).toContain("reset");
    projection.close();
  });
});

describe("a history that expired", () => {
  it("is read again, and viewers get only the rows that differ", async () => {
    const world = await ProjectionWorld.open();
    await world.incident("a");
    await world.incident("b");
    const projection = world.open();
    const viewer = world.view(projection, ["incidents"], (await projection.now()).version);
    await world.pass();

    world.cluster.forbid("watch", "remediationrequests");
    world.cluster.dropWatches();
    await world.deleteIncident("b");
    await world.incident("c");
    world.cluster.compact();
    world.cluster.allow("watch", "remediationrequests");
    await world.pass(minute);

    const changes = viewer.changes();
    expect(changes.flatMap(({ changed }) => keys(changed))).toEqual(["c"]);
    expect(changes.flatMap(({ removed }) => keys(removed))).toEqual(["b"]);
    projection.close();
  });
});

describe("a viewer that does not read", () => {
  it("is reset, while others get every change", async () => {
    const world = await ProjectionWorld.open();
    const projection = world.open();
    const { version } = await projection.now();
    const signal = new AbortController().signal;
    const slow = projection.stream({ kinds: ["incidents"], after: version, signal })[Symbol.asyncIterator]();
    await slow.next();
    const fast = world.view(projection, ["incidents"], version);
    for (let i = 0; i < 3_000; i++) {
      await world.incident(`i${i}`);
      if (i % 500 === 499) await world.pass();
    }

    const { value } = await slow.next();

    expect(Buffer.from(value).toString().slice(0, 100)).toContain("event: reset");
    expect(fast.changes().flatMap(({ changed = [] }) => changed)).toHaveLength(3_000);
    projection.close();
  });
});

describe("a beat", () => {
  it("comes at least every 2 s, and names the version", async () => {
    const world = await ProjectionWorld.open();
    const projection = world.open();
    const { version } = await projection.now();
    const viewer = world.view(projection, ["incidents"]);

    await world.pass(10_000);

    const beats = viewer.events.filter(({ event }) => event === "beat");
    expect(beats.length).toBeGreaterThanOrEqual(6);
    expect(beats.at(-1)?.id).toBe(version);
    projection.close();
  });

  it("reports since when the data is old, while a watch fails", async () => {
    const world = await ProjectionWorld.open();
    const projection = world.open();
    await projection.now();
    const viewer = world.view(projection);
    await world.pass(3_000);
    const current = viewer.events.at(-1)?.data;

    world.cluster.forbid("watch", "workflowexecutions");
    world.cluster.dropWatches();
    await world.pass(minute);

    expect(ageMs(current)).toBeLessThanOrEqual(2_000);
    expect(ageMs(viewer.events.at(-1)?.data)).toBeGreaterThan(50_000);
    projection.close();
  });

  it("reports since when the data is old, while the server does not respond", async () => {
    const world = await ProjectionWorld.open();
    let isDown = false;
    const client = {
      ...world.client,
      get: (async (...call) => {
        if (isDown) throw new KubeError("unavailable", "no answer");
        return world.client.get(...call);
      }) as typeof world.client.get,
    };
    const projection = world.open(client);
    const viewer = world.view(projection);
    await world.pass(3_000);

    isDown = true;
    await world.pass(minute);

    expect(ageMs(viewer.events.at(-1)?.data)).toBeGreaterThan(50_000);
    projection.close();
  });
});

describe("a page", () => {
  it("is the newest first, and the next one goes on where it ended whatever changes meanwhile", async () => {
    const world = await ProjectionWorld.open();
    for (const name of ["a", "b", "c", "d", "e"]) {
      await world.incident(name);
      await world.clock.advance(1_000);
    }
    const projection = world.open();

    const first = await projection.page("incidents", { filter: {}, limit: 2 });
    await world.incident("f");
    await world.deleteIncident("d");
    await world.pass();
    const second = await projection.page("incidents", { filter: {}, limit: 2, after: first.next ?? "" });
    const last = await projection.page("incidents", { filter: {}, limit: 2, after: second.next ?? "" });

    expect([first, second, last].map(({ rows }) => keys(rows))).toEqual([["e", "d"], ["c", "b"], ["a"]]);
    expect([first.total, second.total, last.total]).toEqual([5, 5, 5]);
    expect(last.next).toBeUndefined();
    projection.close();
  });

  it.each<[object, readonly string[]]>([
    [{ lane: "queued" }, ["busy"]],
    [{ lane: "queued,paused" }, ["busy", "paused"]],
    [{ lane: "done" }, ["closed"]],
    [{ phase: "Blocked" }, ["backoff", "busy", "paused"]],
    [{ phase: "BLOCKED,completed" }, ["backoff", "busy", "closed", "paused"]],
    [{ phase: "Nothing" }, []],
    [{ phase: "Blocked", search: "ResourceBusy" }, ["busy"]],
    [{ target: "node/worker-2" }, []],
    [{ reason: "Backoff" }, ["backoff"]],
    [{ reason: "RecentlyRemediated" }, ["backoff"]],
    [{ reason: "Remediated" }, ["closed"]],
    [{ target: "node/worker-1" }, ["backoff", "busy", "paused"]],
    [{ workflow: "cleanup" }, ["backoff", "busy", "paused"]],
    [{ workflow: "restart" }, []],
    [{ namespace: "kubernaut-system", lane: "waiting" }, ["new"]],
    [{ namespace: "payment" }, []],
    [{ since: "1h" }, ["backoff", "busy", "closed", "new", "paused"]],
    [{ search: "because PAUSED" }, ["paused"]],
    [{ search: "diskfull" }, ["backoff", "busy", "closed", "new", "paused"]],
    [{ search: "cancel" }, []],
    [{ search: '"' }, []],
    [{ search: ".*" }, []],
  ])("with the filter %o has the rows that match", async (filter, names) => {
    const world = await ProjectionWorld.open();
    await world.incident("new");
    await world.incident("busy", blocked("ResourceBusy"));
    await world.incident("paused", blocked("Paused"));
    await world.incident("backoff", blocked("RecentlyRemediated", { cause: "backoff" }));
    await world.incident("closed", closed);
    const projection = world.open();

    const { rows, total } = await projection.page("incidents", { filter, limit: 10 });

    expect(keys(rows).toSorted()).toEqual(names);
    expect(total).toBe(names.length);
    projection.close();
  });

  it("selects pauses by their phase at this moment", async () => {
    const world = await ProjectionWorld.open();
    const endsAt = new Date(world.clock.wallMs() + 60_000).toISOString();
    await world.pause("short", { scope: "All", reason: "release", requestedBy: "kim", until: endsAt });
    await world.pause("lasting", { scope: "All", reason: "freeze", requestedBy: "kim" });
    const projection = world.open();
    const select = async (phase: string) =>
      keys((await projection.page("pauses", { filter: { phase }, limit: 9 })).rows);
    expect((await select("Active")).toSorted()).toEqual(["lasting", "short"]);

    await world.clock.advance(61_000);

    expect(await select("Active")).toEqual(["lasting"]);
    expect(await select("Ended")).toEqual(["short"]);
    projection.close();
  });

  it.each<[object, string]>([
    [{ lane: "fast" }, 'unknown lane "fast"'],
    [{ since: "yesterday" }, "must be a duration"],
    [{ search: "x".repeat(201) }, "at most 200 characters"],
  ])("refuses the filter %o", async (filter, message) => {
    const world = await ProjectionWorld.open();
    const projection = world.open();

    await expect(projection.page("incidents", { filter, limit: 10 })).rejects.toThrow(message);
    await expect(projection.page("incidents", { filter: {}, limit: 10, after: "x" })).rejects.toThrow("after");
    projection.close();
  });

  it("reports the reason if a kind cannot be read", async () => {
    const world = await ProjectionWorld.open();
    world.cluster.forbid("list", "codingtasks");
    const projection = world.open();

    const reading = projection.now();
    const outcome = expect(reading).rejects.toThrow(/cannot be read: codingtasks: .*forbidden/);
    await world.pass(20_000);

    await outcome;
    projection.close();
  });
});

describe("a row", () => {
  it("has the position in the queue of its target, which moves up when others leave", async () => {
    const world = await ProjectionWorld.open();
    for (const name of ["a", "b", "c"]) {
      await world.incident(name, blocked("ResourceBusy"));
      await world.clock.advance(1_000);
    }
    const projection = world.open();
    const queued = lane(await projection.now(), "queued");
    const viewer = world.view(projection, ["incidents"], (await projection.now()).version);

    await world.incident("a", { phase: "Analyzing", block: null, diagnosis });
    await world.pass();

    expect(queued.rows.map(({ position }) => position)).toEqual([3, 2, 1]);
    const moved = viewer.changes().flatMap(({ changed = [] }) => changed as readonly IncidentRow[]);
    expect(Object.fromEntries(moved.map((row) => [keys([row])[0], row.position]))).toEqual({
      a: undefined,
      b: 1,
      c: 2,
    });
    projection.close();
  });

  it("has the attempt that an incident waits for, and changes with the record of its target", async () => {
    const world = await ProjectionWorld.open();
    await world.incident("a", blocked("RecentlyRemediated", { cause: "backoff" }));
    await world.record("node/worker-1", failures(2));
    const projection = world.open();
    const before = lane(await projection.now(), "backingOff").rows[0];
    const viewer = world.view(projection, ["incidents"], (await projection.now()).version);

    await world.record("node/worker-1", failures(3));
    await world.pass();

    expect(before?.attempt).toEqual({ number: 3, of: 5 });
    expect(viewer.changes()[0]?.changed).toEqual([expect.objectContaining({ attempt: { number: 4, of: 5 } })]);
    projection.close();
  });

  it("has the approval that an incident waits for, until it is answered", async () => {
    const world = await ProjectionWorld.open();
    await world.incident("a", { phase: "AwaitingApproval", diagnosis });
    const projection = world.open();
    const viewer = world.view(projection, ["incidents"], (await projection.now()).version);

    await world.approval("ask", "a");
    await world.pass();
    const waiting = lane(await projection.now(), "needsYou").rows[0];
    const answer = { decision: "Approved", decidedBy: "kim", decidedAt: "2023-11-14T22:13:20Z", decisionMessage: "ok" };
    await world.approval("ask", "a", answer);
    await world.pass();

    expect(waiting?.approval).toBe("kubernaut-system/ask");
    const changed = viewer.changes().flatMap((changes) => (changes.changed ?? []) as readonly IncidentRow[]);
    expect(changed.map(({ approval }) => approval)).toEqual(["kubernaut-system/ask", undefined]);
    projection.close();
  });

  it("of a pause counts the incidents that it holds back", async () => {
    const world = await ProjectionWorld.open();
    const common = { requestedBy: "kim", reason: "release" };
    await world.pause("all", { scope: "All", ...common });
    await world.pause("cleanup", { scope: "Workflow", workflowId: "cleanup", ...common });
    await world.pause("node", { scope: "Target", targetResource: "node/worker-1", ...common });
    await world.pause("elsewhere", { scope: "Namespace", targetNamespace: "payment", ...common });
    await world.incident("a", blocked("Paused"));
    const projection = world.open();
    const { version, pauses } = await projection.now();
    const viewer = world.view(projection, ["pauses"], version);

    await world.incident("b", blocked("Paused"));
    await world.pass();

    const count = (rows: readonly PauseRow[]) => Object.fromEntries(rows.map((row) => [row.name, row.suppressed]));
    expect(count(pauses)).toEqual({ all: 1, cleanup: 1, node: 1, elsewhere: 0 });
    expect(count((viewer.changes()[0]?.changed ?? []) as readonly PauseRow[])).toEqual({ all: 2, cleanup: 2, node: 2 });
    projection.close();
  });

  it("of a target counts the incidents and executions that wait for it", async () => {
    const world = await ProjectionWorld.open();
    await world.record("node/worker-1", {});
    await world.incident("a", blocked("ResourceBusy"));
    await world.execution("e", { phase: "Pending" });
    const projection = world.open();

    const { rows } = await projection.page("targets", { filter: {}, limit: 10 });

    expect((rows[0] as TargetRow).waiting).toBe(2);
    projection.close();
  });
});

describe("the page Now", () => {
  it("has at most 50 rows per lane, and how many there are", async () => {
    const world = await ProjectionWorld.open();
    for (let i = 0; i < 60; i++) await world.incident(`i${i}`, i < 55 ? blocked("Paused") : blocked("ResourceBusy"));
    const projection = world.open();

    const now = await projection.now();

    expect(now.lanes.map(({ lane: name, total, rows }) => [name, total, rows.length])).toEqual([
      ["needsYou", 0, 0],
      ["running", 0, 0],
      ["queued", 5, 5],
      ["coolingDown", 0, 0],
      ["backingOff", 0, 0],
      ["paused", 55, 50],
      ["waiting", 0, 0],
      ["done", 0, 0],
    ]);
    projection.close();
  });

  it("has the incidents whose workflow acts first, however many are verified", async () => {
    const world = await ProjectionWorld.open();
    const diagnosis = { target: "node/worker-1", workflowId: "cleanup" };
    await world.incident("acts", { phase: "Executing", diagnosis });
    for (let i = 0; i < 50; i++) await world.incident(`verified${i}`, { phase: "Verifying", diagnosis });
    const projection = world.open();

    const { lanes } = await projection.now();

    const running = lanes.find(({ lane }) => lane === "running");
    expect(running?.total).toBe(51);
    expect(keys(running?.rows)[0]).toBe("acts");
    expect(running?.rows).toHaveLength(50);
    projection.close();
  });

  it("counts as done what was closed within a day, the latest first", async () => {
    const world = await ProjectionWorld.open();
    const at = (agoMs: number) => new Date(world.clock.wallMs() - agoMs).toISOString();
    await world.incident("first", { ...closed, completedAt: at(2 * minute) });
    await world.incident("last", { ...closed, completedAt: at(minute) });
    await world.clock.advance(25 * 60 * minute);
    await world.incident("today", { ...closed, completedAt: at(0) });
    const projection = world.open();

    const done = lane(await projection.now(), "done");

    expect(done.total).toBe(1);
    expect(keys(done.rows)).toEqual(["today"]);
    projection.close();
  });

  it("has the approvals that wait for an answer and belong to no incident", async () => {
    const world = await ProjectionWorld.open();
    await world.approval("own", undefined);
    await world.approval("expired", undefined, { decision: "Expired", decidedAt: "2023-11-14T22:13:20Z" });
    await world.approval("of-an-incident", "rr");
    const projection = world.open();

    const { approvals } = await projection.now();

    expect(keys(approvals)).toEqual(["own"]);
    projection.close();
  });

  it("has the executions that run for no incident", async () => {
    const world = await ProjectionWorld.open();
    await world.execution("own", { phase: "Pending" });
    await world.execution("of-incident", { phase: "Pending" }, "a");
    const projection = world.open();

    const { executions } = await projection.now();

    expect(keys(executions)).toEqual(["own"]);
    projection.close();
  });
});

function lane(now: Now, name: string) {
  const found = now.lanes.find((one) => one.lane === name);
  if (!found) throw new Error(`no lane ${name}`);
  return found;
}

function failures(count: number): object {
  return { workflows: [{ workflowId: "cleanup", consecutiveFailures: count, recentEnds: [] }] };
}

function ageMs(beat: Readonly<Record<string, unknown>> | undefined): number {
  return Date.parse(String(beat?.["serverTime"])) - Date.parse(String(beat?.["currentAt"]));
}

/** A client whose watches deliver nothing for a second. */
function slowWatches({ client, clock }: ProjectionWorld): typeof client {
  return {
    ...client,
    async *watch(...call) {
      await new Promise<void>((resolve) => {
        clock.after(1_000, resolve);
      });
      yield* client.watch(...call);
    },
  };
}
