import { describe, expect, it } from "vitest";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import { TestDesk } from "../../../test/doubles/test-desk.ts";
import {
  type AutomationPause,
  automationPauses,
  incidentName,
  installCrds,
  remediationRequests,
} from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";

const name = incidentName("v1:abc", 1);
const short = name.replace(/^rr-(.{8}).*-1$/, "rr-$1-1");

describe("interlock get", () => {
  it("shows a table with the columns that kubectl shows, and names that can be typed", async () => {
    const desk = await deskWithIncident();

    await desk.type("get", "incidents");

    const [head = "", row = ""] = desk.read().split("\n");
    expect(head).toMatch(/^NAME +PHASE +SIGNAL +TARGET +WORKFLOW +BLOCKED +OUTCOME +SEEN +STALLED +AGE$/);
    expect(row.split(/ +/).slice(0, 2)).toEqual([short, "DiskFull"]);
  });

  it.each(["incidents", "incident", "rr", "RemediationRequests"])("knows incidents as %s", async (word) => {
    const desk = await deskWithIncident();

    await desk.type("get", word, "--output", "name");

    expect(desk.read()).toBe(name);
  });

  it("finds one by its short name, and shows all of it in JSON", async () => {
    const desk = await deskWithIncident();

    await desk.type("get", "incidents", short, "-o", "json");

    expect(JSON.parse(desk.read())).toMatchObject([{ metadata: { name }, spec: { signalName: "DiskFull" } }]);
  });

  it("shows whole names and more columns when there is room", async () => {
    const desk = await deskWithIncident();

    await desk.type("get", "incidents", "--output", "wide");

    expect(desk.read()).toMatch(new RegExp(`FINGERPRINT.*\n${name} .*v1:abc`));
  });

  it("says that there is nothing", async () => {
    const desk = await deskWithIncident();

    await desk.type("get", "approvals");

    expect(desk.read()).toBe("there are no approvals");
  });

  it("looks into one namespace when it is named", async () => {
    const desk = await deskWithIncident();

    await desk.type("get", "incidents", "--namespace", "default");

    expect(desk.read()).toBe("there are no incidents in default");
  });

  it("shows each row that changes, and nothing else, until it is interrupted", async () => {
    const desk = await deskWithIncident();
    const watching = desk.type("get", "pauses", "--watch");
    await settle();
    expect(desk.read()).toMatch(/^NAME .*\nfreeze +All +kim/);

    const ref = { namespace: "default", name: "freeze" };
    await desk.client.patch(automationPauses, ref, { merge: { metadata: { labels: { nothing: "shown" } } } });
    await desk.client.create(automationPauses, pauseNamed("other"));
    await desk.client.delete(automationPauses, ref);
    await settle();

    expect(desk.read()).toMatch(/^other +All +kim.*\nfreeze .* \(deleted\)$/);
    desk.interrupt();
    expect(await watching).toBe(0);
  });

  it.each([
    [["pauses", "-w", "-o", "json"], "--watch shows a table, not json"],
    [[], "missing required argument 'kind'; see interlock help get"],
    [["cats"], 'there are no "cats" here; there are incidents, executions'],
    [["incidents", "rr-nobody-1"], "there is no incident rr-nobody-1; see: interlock get incidents"],
    [["incidents", "--output", "yaml"], "argument 'yaml' is invalid. Allowed choices are wide, json, name; see"],
  ])("asked with %j says what to write", async (args, problem) => {
    const desk = await deskWithIncident();

    await expect(desk.type("get", ...args)).rejects.toThrow(problem);
  });
});

async function deskWithIncident(): Promise<TestDesk> {
  const client = testCluster({
    clock: new ManualClock(),
    random: systemRandom(),
    namespaces: ["default", "kubernaut-system"],
  }).client();
  await installCrds(client);
  const { apiVersion, kind } = remediationRequests;
  const time = "2026-03-01T12:00:00.000Z";
  await client.create(remediationRequests, {
    apiVersion,
    kind,
    metadata: { name, namespace: "kubernaut-system" },
    spec: {
      signalFingerprint: "v1:abc",
      signalName: "DiskFull",
      severity: "critical",
      targetResource: { kind: "Node", name: "worker-1" },
      firingTime: time,
      receivedTime: time,
    },
  });
  await client.create(automationPauses, pauseNamed("freeze"));
  return new TestDesk(client);
}

function pauseNamed(name: string): AutomationPause {
  const { apiVersion, kind } = automationPauses;
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: "default" },
    spec: { scope: "All", reason: "release", requestedBy: "kim" },
  };
}
