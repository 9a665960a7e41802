import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openOrchestrator, openRules, type RulesAnalyzer, type Stage } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { builtInKinds, fixedKinds } from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { minute, OrchestratorWorld } from "./orchestrator-world.ts";

const rulesFile = `rules:
  - name: disk
    match: { signalName: "/Disk.*/" }
    target: "node/{{ labels.node }}"
    workflow: cleanup
`;

/** A rule that asks about the node. */
const askingFile = rulesFile.replace('"/Disk.*/" }', '"/Disk.*/", owner: { labels: { pool: batch } } }');

let world: OrchestratorWorld;
let directory: string;
beforeEach(async () => {
  world = await OrchestratorWorld.open();
  await world.executor();
  directory = await mkdtemp(join(tmpdir(), "interlock-rules-"));
  await writeFile(join(directory, "disk.yaml"), rulesFile);
});
afterEach(async () => {
  await world.close();
  await rm(directory, { recursive: true, force: true });
});

describe("the setting", () => {
  /** An orchestrator with these lines in its configuration. */
  async function open(...lines: readonly string[]): Promise<Stage> {
    const text = ["locks:", "  backend: kubernetes", "rules:", `  dir: ${directory}`, ...lines].join("\n");
    const loaded = loadConfig({ yaml: { path: "interlock.yaml", text }, env: {} });
    if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
    const { client, ledger, clock, log } = world;
    const options = { loaded, client, ledger, clock, random: systemRandom(), log, metrics: promMetrics() };
    const stage = await openOrchestrator(options);
    world.cleanUp(() => closing(stage));
    await world.settle();
    return stage;
  }

  async function closing(stage: Stage): Promise<void> {
    const closed = stage.close();
    await world.passTime(10_000);
    await closed;
  }

  it("rules.dir sets the folder of the rules", async () => {
    await open();

    const name = await world.incident("disk");

    expect(await world.status(name)).toMatchObject({ phase: "Executing", diagnosis: { rule: "disk" } });
  });

  it("rules.dir is checked against the catalog at the start, and again when the rules change", async () => {
    await writeFile(join(directory, "lost.yaml"), rulesFile.replace("disk", "lost").replace("cleanup", "gone"));
    const reported = () => world.log.events.filter(({ event }) => event === "rule cannot be carried out");

    await open();
    expect(reported().map(({ fields }) => fields)).toEqual([
      { rule: "lost", problems: ["workflow gone is not in the catalog"], next: expect.any(String) },
    ]);

    const wrong = `${rulesFile.replace("disk", "lost")}    parameters: { colour: red }\n`;
    await writeFile(join(directory, "lost.yaml"), wrong);
    await vi.waitUntil(
      async () => {
        await world.passTime(1_000);
        return reported().length > 1;
      },
      { timeout: 30_000 },
    );
    expect(reported()[1]?.fields["problems"]).toEqual([expect.stringContaining("parameter colour is not a parameter")]);
  });

  it("rules.factsPerMinute limits the objects that are read for rules in a minute", async () => {
    await writeFile(join(directory, "disk.yaml"), askingFile);
    await open("  factsPerMinute: 1");
    await world.incident("disk");

    const second = await world.incident("other", { targetResource: { kind: "Node", name: "worker-2" } });

    expect((await world.status(second)).message).toContain("was not read: 1 objects were read in the last minute");
  });

  it("rules.factsTimeout limits the time of a read", async () => {
    await writeFile(join(directory, "disk.yaml"), askingFile);
    const { get } = world.client;
    const hanging = (_: unknown, reject: (error: Error) => void, signal?: AbortSignal) =>
      signal?.addEventListener("abort", () => reject(new Error("aborted")));
    world.client.get = ((...args: Parameters<typeof get>) =>
      args[0].plural === "nodes"
        ? new Promise((resolve, reject) => hanging(resolve, reject, args[2]?.signal))
        : get.apply(world.client, args)) as typeof get;
    await open("  factsTimeout: 7s");
    const name = await world.incident("disk");
    expect((await world.status(name)).phase).not.toBe("Blocked");

    await world.passTime(7_000);

    expect((await world.status(name)).message).toContain("(node/worker-1) was not read within 7s");
  });

  it("incidents.staleAfter withdraws a waiting incident that is not reported again", async () => {
    await open("incidents:", "  staleAfter: 3m");
    await world.pause("freeze");
    const name = await world.incident("disk");
    await world.passTime(2 * minute);
    await world.report(name);

    await world.passTime(3 * minute - 1);
    expect(await world.status(name)).toMatchObject({ phase: "Blocked" });
    await world.passTime(20);

    expect(await world.status(name)).toMatchObject({ phase: "Withdrawn", outcome: "Stale" });
  });

  it("incidents.staleAfter defaults to fifteen minutes, and to five hours for Alertmanager", async () => {
    await open();
    const unknown = await world.incident("memory", { signalName: "MemoryFull", signalSource: "generic" });
    const alert = await world.incident("alert", { signalName: "MemoryFull", signalSource: "alertmanager" });

    await world.passTime(15 * minute + 20);
    expect((await world.status(unknown)).outcome).toBe("Stale");
    await world.passTime(284 * minute);
    expect((await world.status(alert)).phase).toBe("Blocked");
    await world.passTime(minute);

    expect((await world.status(alert)).outcome).toBe("Stale");
  });

  it("incidents.staleAfterBySource sets it for one source", async () => {
    await open("incidents:", "  staleAfterBySource: pager=1m");
    const pager = await world.incident("pager", { signalName: "MemoryFull", signalSource: "pager" });

    await world.passTime(minute + 20);

    expect((await world.status(pager)).outcome).toBe("Stale");
  });

  it("incidents.executionTimeout limits the time of an execution", async () => {
    await open("incidents:", "  executionTimeout: 10m");
    const name = await world.incident("disk");
    await world.reportRun("Unknown");

    await world.passTime(10 * minute + 1_000);

    expect(await world.status(name)).toMatchObject({ phase: "Failed", outcome: "TimedOut" });
  });

  it("incidents.retention deletes closed incidents, except the newest of a fingerprint", async () => {
    await open("incidents:", "  retention: 6h");
    const first = await world.incident("disk");
    await world.reportRun("True");
    await world.resolve(first);
    expect(await world.status(first)).toMatchObject({ phase: "Completed" });

    await world.passTime(7 * 60 * minute);
    expect(await world.exists(first)).toBe(true);
    const second = await world.incident("disk", {}, 2);

    expect(await world.exists(first)).toBe(false);
    expect(await world.exists(second)).toBe(true);
    expect((await world.executions()).map(({ metadata }) => metadata.name)).toEqual([`${second}-1`]);
    expect(world.eventTypes(first)).toContain("incident.deleted");
  });

  it("incidents.retention keeps incidents that check 7 still needs", async () => {
    await open("incidents:", "  retention: 1m", "ineffective:", "  within: 3h");
    const first = await world.incident("disk");
    await world.reportRun("True");
    await world.resolve(first);
    await world.incident("disk", {}, 2);

    await world.passTime(3 * 60 * minute - minute);
    expect(await world.exists(first)).toBe(true);
    await world.passTime(2 * minute);

    expect(await world.exists(first)).toBe(false);
  });

  it("approval.expiresAfter expires an approval without an answer", async () => {
    await world.workflow({ version: "2", approval: { required: true } });
    await open("approval:", "  expiresAfter: 7m");
    const name = await world.incident("disk");

    await world.passTime(7 * minute - 1);
    expect(await world.status(name)).toMatchObject({ phase: "AwaitingApproval" });
    await world.passTime(20);

    expect(await world.status(name)).toMatchObject({ phase: "Failed", outcome: "ApprovalExpired" });
  });

  it("verification.grace ignores signals for a time after a run", async () => {
    await open("verification:", "  grace: 4m");
    const name = await world.incident("disk");
    await world.reportRun("True");

    await world.passTime(3 * minute);
    await world.report(name);
    expect(await world.status(name)).toMatchObject({ phase: "Verifying" });
    await world.passTime(2 * minute);
    await world.report(name);

    expect(world.eventTypes(name)).toContain("incident.recurred");
  });

  it("verification.window limits the verification after a run", async () => {
    await open("verification:", "  window: 30m");
    const name = await world.incident("disk");
    await world.reportRun("True");

    await world.passTime(30 * minute - 1);
    expect(await world.status(name)).toMatchObject({ phase: "Verifying" });
    await world.passTime(20);

    expect(await world.status(name)).toMatchObject({ phase: "Completed", outcome: "Remediated" });
  });

  it("ineffective.times limits the successes after which a problem may recur", async () => {
    await open("ineffective:", "  times: 1");
    const name = await world.incident("disk");
    await world.reportRun("True");

    await world.passTime(6 * minute);
    await world.report(name);

    expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "Ineffective" } });
  });

  it("ineffective.within sets the time in which they are counted", async () => {
    await open("ineffective:", "  times: 1", "  within: 5m");
    const name = await world.incident("disk");
    await world.reportRun("True");

    await world.passTime(6 * minute);
    await world.report(name);

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
  });
});

describe("rules", () => {
  const readFacts = async () => {
    throw new TypeError("no rule here asks for facts");
  };
  let rules: RulesAnalyzer | undefined;
  afterEach(() => rules?.close());

  const open = async (ifWrong: "throw" | "start-without" = "throw") => {
    rules = await openRules({
      directory,
      ifWrong,
      readFacts,
      kinds: fixedKinds(builtInKinds),
      clock: world.clock,
      log: world.log,
    });
    return rules;
  };

  it("that are invalid keep the orchestrator from starting, and all problems are reported", async () => {
    await writeFile(join(directory, "a.yaml"), "rules:\n  - name: a\n");
    await writeFile(join(directory, "b.yaml"), "rules: 5\n");

    await expect(open()).rejects.toThrow(/a\.yaml:2[\s\S]*b\.yaml/);
  });

  it("are read again when they change, and waiting incidents are analyzed again", async () => {
    const { reload, subscribe, ...read } = await open();
    let notified = 0;
    subscribe(() => notified++);
    await writeFile(join(directory, "more.yaml"), rulesFile.replace("name: disk", "name: more"));

    await reload();
    await reload();

    expect(notified).toBe(1);
    expect(read.rules).toHaveLength(1);
    expect(rules?.rules.map(({ name }) => name)).toEqual(["disk", "more"]);
  });

  it("are watched: a changed file is read without a signal", async () => {
    rules = await openRules({
      directory,
      ifWrong: "throw",
      readFacts,
      kinds: fixedKinds(builtInKinds),
      clock: systemClock(),
      log: world.log,
    });
    const notified = new Promise<void>((resolve) => rules?.subscribe(resolve));

    await writeFile(join(directory, "more.yaml"), rulesFile.replace("name: disk", "name: more"));
    await notified;

    expect(rules.rules.map(({ name }) => name)).toEqual(["disk", "more"]);
  });

  it("that become invalid are reported, and the previous rules stay", async () => {
    const { reload } = await open();
    await writeFile(join(directory, "disk.yaml"), "rules: 5\n");

    await reload();

    expect(rules?.rules.map(({ name }) => name)).toEqual(["disk"]);
    expect(world.log.events.map(({ event }) => event)).toContain("rules not loaded, the earlier ones stay");
  });

  it("that stay invalid are logged once", async () => {
    await writeFile(join(directory, "disk.yaml"), "rules: 5\n");
    const { reload } = await open("start-without");

    await reload();

    const events = world.log.events.map(({ event }) => event).filter((event) => event.startsWith("rules not loaded"));
    expect(events).toEqual(["rules not loaded"]);
  });

  it("with the same name in two files are rejected", async () => {
    await writeFile(join(directory, "more.yaml"), rulesFile);

    await expect(open()).rejects.toThrow(/has a rule "disk"/);
  });
});
