import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diagnoseWithFacts, type Facts, type FactsReading, type Rule } from "../../src/policy/index.ts";
import { builtInKinds } from "../../src/resources/index.ts";
import { TestCli } from "../doubles/test-cli.ts";
import { diskRule, minute, OrchestratorWorld } from "./orchestrator-world.ts";

let world: OrchestratorWorld;
beforeEach(async () => {
  world = await OrchestratorWorld.open();
  await world.executor();
});
afterEach(() => world.close());

describe("an incident whose rule needs facts about its objects", () => {
  const labelled: Rule = { ...diskRule, match: { signalName: "/Disk.*/", owner: { labels: { pool: "batch" } } } };
  let owner: FactsReading;
  let reads = 0;

  async function orchestrator(...rules: readonly Rule[]) {
    const facts = async (): Promise<Facts> => {
      reads++;
      return { object: owner, owner };
    };
    await world.orchestrator({
      analyzer: { analyze: (spec) => diagnoseWithFacts(spec, rules, builtInKinds, facts), subscribe: () => () => {} },
    });
  }

  it("is diagnosed with the facts of its objects", async () => {
    owner = labels({ pool: "batch" });
    await orchestrator(labelled);

    const name = await world.incident("disk");

    expect(await world.status(name)).toMatchObject({ phase: "Executing", diagnosis: { rule: "disk" } });
  });

  it("lists the fact that did not match, and is diagnosed when it matches", async () => {
    owner = labels({ pool: "web" });
    await orchestrator(labelled);
    const name = await world.incident("disk");
    const cli = new TestCli(world.client, { events: () => world.ledger.events() });
    await cli.run("why", name);
    expect(cli.read()).toContain("disk (owner label pool is web)");

    owner = labels({ pool: "batch" });
    await world.passTime(minute);

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
  });

  it("waits with the reason while the object cannot be read, though a later rule would apply", async () => {
    owner = { kind: "unreadable", problem: "(node/worker-1) may not be read: forbidden" };
    await orchestrator(labelled, { ...diskRule, name: "general" });
    const name = await world.incident("disk");
    expect(await world.status(name)).toMatchObject({ phase: "Blocked", block: { reason: "NoMatchingRule" } });
    expect((await world.status(name)).message).toContain("may not be read: forbidden");

    owner = labels({});
    await world.passTime(minute);

    expect(await world.status(name)).toMatchObject({ phase: "Executing", diagnosis: { rule: "general" } });
  });

  it("has its objects read again when that is due, and not for each signal that is counted", async () => {
    owner = labels({ pool: "web" });
    await orchestrator(labelled);
    const name = await world.incident("disk");
    const before = reads;

    for (let i = 0; i < 5; i++) await world.report(name);
    expect(reads).toBe(before);
    await world.passTime(minute);

    expect(reads).toBeGreaterThan(before);
  });

  it("is diagnosed with the facts of the object of each series", async () => {
    const read: (string | undefined)[] = [];
    const oomKilled: Rule = { ...diskRule, match: { object: { labels: { pool: "batch" } } } };
    await world.orchestrator({
      analyzer: {
        analyze(spec, _signal, subject) {
          return diagnoseWithFacts(spec, [oomKilled], builtInKinds, async () => {
            read.push(subject);
            const object = labels(subject === "payment/pod/api-2" ? { pool: "batch" } : {});
            return { object, owner: object };
          });
        },
        subscribe: () => () => {},
      },
    });
    const name = await world.incident("crash");
    await world.annotate(name, { "kubernaut.ai/subject": "payment/pod/api-1" });
    const at = world.nowAt();
    expect(await world.status(name)).toMatchObject({ phase: "Blocked" });

    const second = { firingAt: at, subject: "payment/pod/api-2", labels: { pod: "api-2" } };
    await world.reportSeries(name, { a: { firingAt: at }, b: second }, "critical");

    expect(await world.status(name)).toMatchObject({ phase: "Executing" });
    expect(read).toEqual(expect.arrayContaining(["payment/pod/api-1", "payment/pod/api-2"]));
  });

  it("shows the current reason when it changes", async () => {
    owner = { kind: "unreadable", problem: "(node/worker-1) does not exist" };
    await orchestrator(labelled);
    const name = await world.incident("disk");

    owner = labels({ pool: "web" });
    await world.passTime(minute);

    expect((await world.status(name)).message).toContain("owner label pool is web");
  });

  function labels(given: Readonly<Record<string, string>>): FactsReading {
    const facts = { annotations: {}, conditions: {}, lastTermination: [], waiting: [], managedBy: [] };
    return { kind: "read", facts: { ...facts, labels: given } };
  }
});

describe("an incident of a symptom", () => {
  const cause: Rule = { name: "node-down", match: { signalName: "NodeDown" }, workflow: "cleanup" };
  const symptom: Rule = {
    ...diskRule,
    target: "payment/deployment/api",
    deferWhile: { rule: "node-down", same: "node" },
  };

  beforeEach(async () => {
    world.rules.set(cause, symptom);
    await world.orchestrator();
  });

  it("waits while an incident of its cause on the same node is open, and continues afterwards", async () => {
    const down = await world.incident("down", { signalName: "NodeDown" });
    const disk = await world.incident("disk");
    expect(await world.status(disk)).toMatchObject({ phase: "Blocked", block: { reason: "CauseOpen" } });
    expect((await world.status(disk)).message).toContain(`incident ${down} of rule node-down on node/worker-1 is open`);
    const cli = new TestCli(world.client, { events: () => world.ledger.events() });
    await cli.run("why", disk);
    const explanation = cli.read();
    expect(explanation).toContain("while an incident of rule node-down on node/worker-1 is open");
    expect(explanation).toMatch(/Now: cleanup on payment\/deployment\/api: not now, CauseOpen/);

    await world.reportRun("True");
    await world.resolve(down);

    expect(await world.status(disk)).toMatchObject({ phase: "Executing" });
  });

  it("continues when the incident of its cause is deleted", async () => {
    const down = await world.incident("down", { signalName: "NodeDown" });
    const disk = await world.incident("disk");

    await world.deleteIncident(down);

    expect(await world.status(disk)).toMatchObject({ phase: "Executing" });
  });

  it("does not wait for an incident of its cause on another node", async () => {
    const elsewhere = { kind: "Node", name: "worker-2" };
    await world.incident("down", { signalName: "NodeDown", targetResource: elsewhere, signalLabels: {} });

    const disk = await world.incident("disk");

    expect(await world.status(disk)).toMatchObject({ phase: "Executing" });
  });
});
