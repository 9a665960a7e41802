import { afterEach, describe, expect, it } from "vitest";
import type { Action, Right } from "../../src/actions/index.ts";
import { actions, gitlabIssues, readInputs, runAction } from "../../src/actions/index.ts";
import { type KubeClient, KubeError } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { type Death, dyingClient } from "../doubles/dying-client.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { until } from "../executor/processes/until.ts";
import { startGitLabIssues } from "./gitlab-issues-double.ts";
import { type LimitedClientOptions, limitedClient } from "./limited-client.ts";
import { actionsOnCluster } from "./real-cluster.ts";
import {
  autoscaler,
  cronJob,
  make,
  makeNode,
  makePod,
  pod,
  read,
  type Scenario,
  type ScenarioWorld,
  scenarios,
  testNode,
} from "./scenarios.ts";
import { types, workloadControllers } from "./workload-controllers.ts";

const clock = systemClock();
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

it("has a scenario for every action", () => {
  const covered = new Set(scenarios.map(({ action }) => action));
  expect([...covered].sort()).toEqual(actions.map(({ name }) => name).sort());
});

describe.each(scenarios.map((scenario) => [`${scenario.action} on ${scenario.target("ns")}`, scenario] as const))(
  "%s",
  (_name, scenario) => {
    const action = actionNamed(scenario.action);
    const needed = rightsFor(action, scenario);

    it("does its work with the rights of its role, and is verified", async () => {
      const world = await open(scenario);
      const client = limitedClient(world.client, action.rights);

      const outcome = await act(scenario, world, client);

      expect(outcome).toMatchObject({ kind: "succeeded" });
      expect(client.written).toEqual(scenario.writes);
      await scenario.check(world);
    });

    it("changes nothing when it is repeated by the same execution", async () => {
      const world = await open(scenario);
      await act(scenario, world, limitedClient(world.client, action.rights));
      const client = limitedClient(world.client, action.rights);

      const outcome = await act(scenario, world, client);

      expect(outcome).toMatchObject({ kind: "succeeded" });
      expect(client.written).toEqual([]);
      await scenario.check(world);
    });

    it("prints its writes in a dry run, and writes nothing", async () => {
      const world = await open(scenario);
      const client = limitedClient(world.client, action.rights);
      const lines: string[] = [];

      const outcome = await act(scenario, world, client, { parameters: { dryRun: "true" }, lines });

      expect(outcome).toEqual({ kind: "succeeded", message: "dry run: nothing was written" });
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.every((line) => line.startsWith("would "))).toBe(true);
      expect(client.written).toEqual([]);
      expect(world.gitlab.issues).toEqual([]);
    });

    it.each(needed.map((right) => [right.text, right] as const))(
      "without the right to %s fails before it writes, and names the right",
      async (_text, without) => {
        const world = await open(scenario);
        const client = limitedClient(world.client, action.rights, { without });

        const outcome = await act(scenario, world, client);

        expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining(without.name) });
        expect(client.written).toEqual([]);
        expect(world.gitlab.issues).toEqual([]);
      },
    );

    it.each(needed.filter(({ isUsed }) => isUsed).map((right) => [right.text, right] as const))(
      "needs the right to %s: it fails with its name if that is taken away during the run",
      async (_text, without) => {
        const world = await open(scenario);
        const client = limitedClient(world.client, action.rights, { without, reviewsAreOutdated: true });

        const outcome = await act(scenario, world, client);

        expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining(without.name) });
      },
    );

    it("reaches the same end after a crash before or after any write", async () => {
      for (let write = 1; write <= scenario.writes.length; write++) {
        for (const when of ["before", "after"] as const) {
          const world = await open(scenario);
          await crash(scenario, world, { write, when });

          const outcome = await act(scenario, world, limitedClient(world.client, action.rights));

          expect(outcome, `${when} write ${write}`).toMatchObject({ kind: "succeeded" });
          await scenario.check(world);
        }
      }
    });

    if (!scenario.hasNoFence) {
      it("writes its fence, and refuses a target that a later run has written", async () => {
        const world = await open(scenario);
        const reading = readInputs(action, environment(scenario, world));
        if (reading.kind === "invalid") throw new Error(reading.problems.join("; "));
        const { target } = reading.inputs;
        const type = Object.values(types).find(({ kind }) => kind.toLowerCase() === target.kind);
        if (!type) throw new Error(`no type of ${target.text}`);
        const ref = { name: target.name, ...(target.namespace && { namespace: target.namespace }) };
        await world.client.patch(type, ref, { merge: { metadata: { annotations: { "kubernaut.ai/fence": "43" } } } });
        const client = limitedClient(world.client, action.rights);

        const outcome = await act(scenario, world, client);

        expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining("later run (fence 43") });
        expect(client.written).toEqual([]);
        const later = await act(scenario, world, client, { fence: "44" });
        expect(later).toMatchObject({ kind: "succeeded" });
        const written = await world.client.get(type, ref);
        if (written && scenario.writes.includes(`update ${type.plural}`)) {
          expect(written.metadata.annotations).toMatchObject({ "kubernaut.ai/fence": "44" });
        }
      });
    }
  },
);

describe("a disruption budget", () => {
  it("is respected: a drain waits for it, prints its name, and continues when it allows a disruption", async () => {
    const world = await open(undefined);
    await makeNode(world);
    for (const set of ["web", "api"]) await makePod(world, pod(set));
    await makeBudget(world, 2);
    const lines: string[] = [];
    const drain = { action: "drain-node", target: () => `node/${testNode}` };

    const running = act(drain, world, limitedClient(world.client, actionNamed("drain-node").rights), { lines });
    await until("it waits for the budget", () => lines.some((line) => line.includes("keep-web needs 2")));
    expect((await world.client.list(types.pods)).items).toHaveLength(2);
    await world.client.patch(
      types.budgets,
      { namespace: world.namespace, name: "keep-web" },
      { merge: { spec: { minAvailable: 0 } } },
    );

    expect(await running).toMatchObject({ kind: "succeeded" });
    expect((await world.client.list(types.pods, { fieldSelector: `spec.nodeName=${testNode}` })).items).toEqual([]);
  });

  it("that never allows it lets the action fail after waitSeconds, with the budget's name and the pods in place", async () => {
    const world = await open(undefined);
    await makePod(world, pod("web", { ready: false }));
    await makePod(world, pod("api"));
    await makeBudget(world, 2);
    const stuck = { action: "delete-stuck-pod", target: (ns: string) => `${ns}/pod/web-0` };
    const client = limitedClient(world.client, actionNamed("delete-stuck-pod").rights);

    const outcome = await act(stuck, world, client, { parameters: { waitSeconds: "5" }, passSeconds: 10 });

    expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining("keep-web") });
    expect(client.written).toEqual([]);
  });

  async function makeBudget(world: ScenarioWorld, minAvailable: number) {
    const spec = { minAvailable, selector: { matchLabels: { app: "web" } } };
    await make(world, types.budgets, { metadata: { name: "keep-web" }, spec } as never);
    await until("the budget is counted", async () => {
      return (await read(world, types.budgets, "keep-web")).status?.desiredHealthy === minAvailable;
    });
  }
});

describe("an action refuses", () => {
  it.each<[string, string, string, (world: ScenarioWorld) => Promise<void>, string, Record<string, string>?]>([
    ["a target that does not exist", "restart-rollout", "ns/deployment/none", async () => {}, "does not exist"],
    [
      "to scale a Deployment that an autoscaler scales",
      "scale",
      "ns/deployment/web",
      async (world) => {
        await make(world, types.deployments, rollout("web"));
        await make(world, types.autoscalers, autoscaler("web-hpa", "web"));
      },
      "scaled by the autoscaler web-hpa",
    ],
    [
      "to scale beyond the limit, and never scales the other way",
      "scale",
      "ns/deployment/web",
      (world) => make(world, types.deployments, rollout("web")),
      "the limit is 1",
      { max: "1" },
    ],
    [
      "to roll back a Deployment without an earlier revision",
      "roll-back-rollout",
      "ns/deployment/web",
      (world) => make(world, types.deployments, rollout("web")),
      "no such earlier revision",
    ],
    [
      "to evict a pod that nothing replaces",
      "delete-stuck-pod",
      "ns/pod/bare-0",
      (world) => makePod(world, pod("bare", { ready: false, owner: "none" })),
      "no controller",
    ],
    [
      "to drain a node with a pod that nothing replaces",
      "drain-node",
      `node/${testNode}`,
      async (world) => {
        await makeNode(world);
        await makePod(world, pod("bare", { owner: "none" }));
      },
      "no controller owns it",
    ],
    [
      "to uncordon a node that an operator cordoned",
      "uncordon-node",
      `node/${testNode}`,
      async (world) => {
        await makeNode(world);
        await world.client.patch(types.nodes, { name: testNode }, { merge: { spec: { unschedulable: true } } });
      },
      "not cordoned by an action",
    ],
    [
      "to restart a paused rollout",
      "restart-rollout",
      "ns/deployment/web",
      async (world) => {
        const draft = rollout("web");
        await make(world, types.deployments, { ...draft, spec: { ...draft.spec, paused: true } } as never);
      },
      "is paused",
    ],
    [
      "to start a CronJob whose Jobs are removed before their end can be observed",
      "restart-job",
      "ns/cronjob/nightly",
      async (world) => {
        const { metadata, spec } = cronJob("nightly");
        await make(world, types.cronJobs, { metadata, spec: { ...spec, successfulJobsHistoryLimit: 0 } } as never);
      },
      "removes Jobs that have completed at once",
    ],
    [
      "to open an issue without the Secret",
      "open-issue",
      "namespace/ns",
      async () => {},
      "needs url and token",
      { project: "a/b", title: "t" },
    ],
  ])("%s, and writes nothing", async (_what, name, target, prepare, message, parameters = {}) => {
    const world = await open(undefined);
    await prepare(world);
    const client = limitedClient(world.client, actionNamed(name).rights);

    const outcome = await act({ action: name, target: () => target, parameters }, world, client);

    expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining(message) });
    expect(client.written).toEqual([]);
  });
});

it("opens an issue in which no text of an alert is a command of GitLab", async () => {
  const scenario = scenarios.find(({ action }) => action === "open-issue") as Scenario;
  const world = await open(scenario);

  await act(scenario, world, limitedClient(world.client, actionNamed("open-issue").rights));

  const [issue] = world.gitlab.issues;
  expect(issue?.description).toContain("````text\n\u200b/close\n```\n\u200b/assign @root\n````");
  // Older servers take the first line of three backticks for the end of a block.
  const outsideOfBlocks = issue?.description.replace(/^```[\s\S]+?\n```$/gm, "");
  expect(outsideOfBlocks).not.toMatch(/^\/(close|assign)/m);
});

it("names the missing right of a GitLab token", async () => {
  const scenario = scenarios.find(({ action }) => action === "open-issue") as Scenario;
  const world = await open(undefined);
  await scenario.prepare({ ...world, gitlab: { ...world.gitlab, token: "another" } });

  const outcome = await act(scenario, world, limitedClient(world.client, actionNamed("open-issue").rights));

  expect(outcome).toMatchObject({
    kind: "failed",
    message: expect.stringContaining('cannot list issues in the GitLab project "group/ops"'),
  });
});

it("fails at once if GitLab responds with a redirect, which is not followed", async () => {
  const scenario = scenarios.find(({ action }) => action === "open-issue") as Scenario;
  const world = await open(undefined);
  const { origin } = new URL(world.gitlab.url);
  await scenario.prepare({ ...world, gitlab: { ...world.gitlab, url: `${origin}/moved` } });

  const outcome = await act(scenario, world, limitedClient(world.client, actionNamed("open-issue").rights));

  expect(outcome).toMatchObject({ kind: "failed", message: expect.stringMatching(/^GitLab responded with 302/) });
});

it("checks its rights again if the API server does not respond to the first check", async () => {
  const scenario = scenarios.find(({ action }) => action === "cordon-node") as Scenario;
  const world = await open(scenario);
  const client = limitedClient(world.client, actionNamed("cordon-node").rights);
  let failures = 1;
  const create: KubeClient["create"] = async (...call) => {
    if (failures-- > 0) throw new KubeError("unavailable", "the API server does not respond");
    return await client.create(...call);
  };

  const outcome = await act(scenario, world, { ...client, create });

  expect(outcome).toMatchObject({ kind: "succeeded" });
});

it("names the mistake if the server is not GitLab", async () => {
  const scenario = scenarios.find(({ action }) => action === "open-issue") as Scenario;
  const world = await open(undefined);
  await scenario.prepare({ ...world, gitlab: { ...world.gitlab, url: new URL(world.gitlab.url).origin } });

  const outcome = await act(scenario, world, limitedClient(world.client, actionNamed("open-issue").rights));

  expect(outcome).toMatchObject({ kind: "failed", message: expect.stringContaining("check its URL") });
});

describe.each(actions.map((action) => [action.name, action] as const))("the inputs of %s", (_name, action) => {
  const required = Object.fromEntries((action.required ?? []).map((name) => [name, "a"]));
  const kind = action.targetKinds?.[0] ?? "deployment";
  const target = kind === "node" ? "node/a" : `ns/${kind}/a`;
  const env = { ...required, TARGET_RESOURCE: target, EXECUTION_UID: "uid", FENCE: "1" };

  it("are accepted with their defaults", () => {
    expect(readInputs(action, env)).toMatchObject({ kind: "inputs", inputs: { parameters: { dryRun: false } } });
  });

  it.each([
    ["a fence that is no number", { FENCE: "1; rm" }, "FENCE"],
    ["no execution", { EXECUTION_UID: "" }, "EXECUTION_UID"],
    ["a target in another cluster", { TARGET_RESOURCE: `other:${target}` }, "cluster"],
    ["a target that is none", { TARGET_RESOURCE: "nonsense" }, "TARGET_RESOURCE"],
    ["a dry run that is neither true nor false", { dryRun: "maybe" }, "dryRun must be true or false"],
    ["a wait out of bounds", { waitSeconds: "100000" }, "waitSeconds must be at most 3600"],
  ])("are refused with %s", (_what, wrong, problem) => {
    const reading = readInputs(action, { ...env, ...wrong });
    expect(reading).toMatchObject({ kind: "invalid", problems: [expect.stringContaining(problem)] });
  });

  it.each(Object.entries(action.parameters))("are refused with %s out of its schema", (name, schema) => {
    const value = schema.type === "string" ? "\u0001".repeat((schema.maxLength ?? 9_999) + 1) : "1e99";
    expect(readInputs(action, { ...env, [name]: value })).toMatchObject({
      kind: "invalid",
      problems: [expect.stringMatching(`^${name} `)],
    });
  });

  if (action.targetKinds) {
    it("are refused with a target of another kind", () => {
      expect(readInputs(action, { ...env, TARGET_RESOURCE: "ns/configmap/a" })).toMatchObject({
        kind: "invalid",
        problems: [`workflow ${action.name} is not for a configmap: it fits ${action.targetKinds?.join(", ")}`],
      });
    });
  }
});

// Never KUBECONFIG: what a developer's shell points at is not for tests.
const { TEST_KUBECONFIG: kubeconfig } = process.env;
if (kubeconfig) actionsOnCluster(kubeconfig);

function actionNamed(name: string): Action {
  const found = actions.find((action) => action.name === name);
  if (!found) throw new Error(`no action ${name}`);
  return found;
}

async function open(scenario: Scenario | undefined): Promise<ScenarioWorld> {
  const cluster = testCluster({ clock, random: systemRandom(), namespaces: ["ns", "kubernaut-workflows"] });
  const client = cluster.client();
  const controllers = workloadControllers(client);
  closing.push(() => controllers.stop());
  const gitlab = await startGitLabIssues({ token: "secret", project: "group/ops" });
  closing.push(gitlab.close);
  const world = { client, namespace: "ns", gitlab: { ...gitlab, token: "secret" } };
  await scenario?.prepare(world);
  return world;
}

interface ActOptions {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly lines?: string[];
  readonly fence?: string;
  /** How much later every look at the clock is than the one before. */
  readonly passSeconds?: number;
}

function environment({ target, parameters }: Pick<Scenario, "target" | "parameters">, { namespace }: ScenarioWorld) {
  return { ...parameters, TARGET_RESOURCE: target(namespace), EXECUTION_UID: "execution-1", FENCE: "42" };
}

async function act(
  scenario: Pick<Scenario, "action" | "target" | "parameters">,
  world: ScenarioWorld,
  client: KubeClient,
  { parameters, lines = [], fence = "42", passSeconds = 0 }: ActOptions = {},
) {
  const action = actionNamed(scenario.action);
  const reading = readInputs(action, { ...environment(scenario, world), FENCE: fence, ...parameters });
  if (reading.kind === "invalid") throw new Error(reading.problems.join("; "));
  let passedMs = 0;
  const hurried = {
    ...clock,
    wallMs: () => clock.wallMs(),
    after: clock.after.bind(clock),
    now: () => {
      passedMs += passSeconds * 1_000;
      return clock.now() + passedMs;
    },
  };
  const deps = {
    client,
    issues: gitlabIssues(clock),
    clock: hurried,
    print: (line: string) => lines.push(line),
    pollMs: 2,
  };
  return await runAction(action, reading.inputs, deps);
}

/** Runs the action in a process that dies at a write. */
async function crash(scenario: Scenario, world: ScenarioWorld, death: Death): Promise<void> {
  const rights = actionNamed(scenario.action).rights;
  // Reviews are no writes: the client that dies is below the one that answers them.
  const dying = dyingClient(world.client, death);
  void act(scenario, world, limitedClient(dying, rights));
  await until("the process has died", () => dying.isDead);
}

interface NeededRight extends NonNullable<LimitedClientOptions["without"]> {
  readonly text: string;
  /** As Kubernetes words it. */
  readonly name: string;
  /** Whether the scenario comes to it. */
  readonly isUsed: boolean;
}

/** One entry for each verb that the action needs on the scenario's target. */
function rightsFor({ rights }: Action, { target, writes }: Scenario): readonly NeededRight[] {
  const kind = target("ns").split("/").at(-2) ?? "";
  return rights
    .filter((right) => right.onlyFor === undefined || right.onlyFor === kind)
    .flatMap(({ verbs, resource, group, where }) =>
      verbs.map((verb) => ({
        verb,
        resource,
        text: `${verb} ${resource}`,
        name: `cannot ${verb} resource "${resource}" in API group "${group}" ${placeText(where)}`,
        isUsed: isRead(verb) || writes.includes(writeText(verb, resource)),
      })),
    );
}

function isRead(verb: string): boolean {
  return verb === "get" || verb === "list";
}

function writeText(verb: string, resource: string): string {
  return resource === "pods/eviction" ? "evict pods" : `${verb} ${resource}`;
}

function placeText(where: Right["where"]): string {
  if (where === "target") return 'in the namespace "ns"';
  return where === "runs" ? 'in the namespace "kubernaut-workflows"' : "";
}

function rollout(name: string) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "registry.invalid/works" }] } };
  return { metadata: { name }, spec: { replicas: 2, selector: { matchLabels: labels }, template } };
}
