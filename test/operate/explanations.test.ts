import { expect, it } from "vitest";
import { explain, explainIncident, explainWorkflows, paragraphLines } from "../../src/operate/index.ts";
import { remediationRequests } from "../../src/resources/index.ts";
import { incident, namespace, OperateWorld } from "./operate-world.ts";

it("an incident is explained with every check as data: the first that blocks decides", async () => {
  const world = await OperateWorld.open();
  await world.perform("pause", { scope: ["all"], for: "2h", reason: "release" });
  const until = new Date(world.client.serverNowMs() + 2 * 3_600_000).toISOString();
  const found = await world.client.get(remediationRequests, { namespace, name: incident });
  if (!found) throw new Error("the incident is gone");

  const { checks, text } = await explainIncident(found, world.context());

  expect(checks).toHaveLength(9);
  expect(checks.filter(({ isDeciding }) => isDeciding)).toEqual([
    {
      name: "automation is not paused",
      passed: false,
      isDeciding: true,
      evidence: expect.stringMatching(/^paused: pause-\w+ by kim \(release\)$/),
      clearsAt: until,
      clears: `at ${until}`,
    },
  ]);
  expect(checks.filter(({ passed }) => !passed).map(({ name }) => name)).toEqual([
    "automation is not paused",
    "no unacknowledged failure while acting",
  ]);
  expect(checks[0]).toMatchObject({ passed: true, isDeciding: false, evidence: "workflow cleanup is in the catalog" });
  expect(paragraphLines(text)[0]).toMatch(/^rr-\w{8}-1: DiskFull \(critical\), about node\/worker-1$/);
});

it("an incident for which no rule was found has the checks of the recorded decision", async () => {
  const world = await OperateWorld.open();
  const block = { reason: "NoMatchingRule", message: "no rule matches", decision: "d-1" };
  await world.setStatus(remediationRequests, incident, { diagnosis: null, block });
  const found = await world.client.get(remediationRequests, { namespace, name: incident });
  if (!found) throw new Error("the incident is gone");
  const checks = [{ number: 0, asks: "a workflow is found", answer: "blocks", evidence: "none", clears: "later" }];
  const event = { id: "d-1", type: "incident.decided", at: "2026-03-01T12:00:00.000Z", facts: { checks } } as const;

  const explained = await explainIncident(found, { ...world.context(), readEvents: async () => [event] });

  expect(explained.checks).toEqual([
    { name: "a workflow is found", passed: false, isDeciding: true, evidence: "none", clears: "later" },
  ]);
});

it("a target is explained for every workflow of the catalog, as data", async () => {
  const world = await OperateWorld.open();

  const verdicts = await explainWorkflows("nodes/worker-1", world.context());

  expect(verdicts).toMatchObject([
    { workflow: "cleanup", isAllowed: false, reason: "PreviousExecutionFailed" },
    { workflow: "guarded", isAllowed: true },
  ]);
  expect(verdicts.map(({ checks }) => checks.length)).toEqual([9, 9]);
});

it.each([
  ["nothing", "not-found", "there is no incident, execution or task nothing"],
  ["widget/one", "invalid", 'the target "widget/one"'],
])("an explanation of %s fails as %s", async (text, code, message) => {
  const world = await OperateWorld.open();

  await expect(explain({ text }, world.context())).rejects.toMatchObject({
    name: "OperationError",
    code,
    message: expect.stringContaining(message),
  });
});
