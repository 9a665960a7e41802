import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { ManualClock, settle } from "../../../test/doubles/manual-clock.ts";
import { TestCli } from "../../../test/doubles/test-cli.ts";
import { testCluster } from "../../../test/doubles/test-cluster.ts";
import {
  type AutomationPause,
  automationPauses,
  incidentName,
  installCrds,
  type RemediationWorkflow,
  remediationRequests,
  remediationWorkflows,
} from "../../resources/index.ts";
import { systemRandom } from "../../time/index.ts";

const name = incidentName("v1:abc", 1);
const kubectlName = `remediationrequest.kubernaut.ai/${name}`;
const short = name.replace(/^rr-(.{8}).*-1$/, "rr-$1-1");

describe("interlock get", () => {
  it("shows a table with the columns that kubectl shows, and names that can be typed", async () => {
    const cli = await cliWithIncident();

    await cli.run("get", "incidents");

    const [head = "", row = ""] = cli.read().split("\n");
    expect(head).toMatch(/^NAME +PHASE +SIGNAL +TARGET +WORKFLOW +BLOCKED +OUTCOME +SEEN +STALLED +AGE$/);
    expect(row.split(/ +/).slice(0, 2)).toEqual([short, "DiskFull"]);
  });

  it.each(["incidents", "incident", "rr", "RemediationRequests", "remediationrequests.kubernaut.ai"])(
    "knows incidents as %s",
    async (word) => {
      const cli = await cliWithIncident();

      await cli.run("get", word, "--output", "name");

      expect(cli.read()).toBe(kubectlName);
    },
  );

  it("finds one by its short name, and shows all of it in JSON", async () => {
    const cli = await cliWithIncident();

    await cli.run("get", "incidents", short, "-o", "json");

    expect(JSON.parse(cli.read())).toMatchObject({
      apiVersion: "kubernaut.ai/v1alpha1",
      kind: "RemediationRequest",
      metadata: { name },
      spec: { signalName: "DiskFull" },
    });
  });

  it.each([
    ["json", (text: string) => JSON.parse(text)],
    ["yaml", (text: string) => parse(text)],
  ])("lists objects in %s as kubectl does", async (format, read) => {
    const cli = await cliWithIncident();

    await cli.run("get", "incidents", "-o", format);
    expect(read(cli.read())).toMatchObject({ apiVersion: "v1", kind: "List", items: [{ metadata: { name } }] });
    await cli.run("get", "approvals", "-o", format);
    expect(read(cli.read())).toEqual({ apiVersion: "v1", kind: "List", items: [] });
  });

  it.each(["json", "yaml"])("leaves out managedFields in %s, as kubectl does", async (format) => {
    const cli = await cliWithIncident();
    const managed = { name: "managed", managedFields: [{ manager: "kubectl", operation: "Update" }] };
    await cli.client.create(automationPauses, {
      ...pauseNamed("managed"),
      metadata: { ...pauseNamed("managed").metadata, ...managed },
    });

    await cli.run("get", "pauses", "managed", "-o", format);

    expect(cli.read()).toContain("managed");
    expect(cli.read()).not.toContain("managedFields");
  });

  it("prints what a jsonpath template selects", async () => {
    const cli = await cliWithIncident();

    await cli.run("get", "incidents", short, "-o", "jsonpath={.metadata.name}");
    expect(cli.read()).toBe(name);
    await cli.run(
      "get",
      "incidents",
      "-o",
      'jsonpath={range .items[*]}{.metadata.name}{"\\t"}{.spec.severity}{"\\n"}{end}',
    );
    expect(cli.read()).toBe(`${name}\tcritical`);
  });

  it("accepts names with their kind, as kubectl and -o name print them", async () => {
    const cli = await cliWithIncident();

    await cli.run("get", kubectlName, "-o", "name");
    expect(cli.read()).toBe(kubectlName);
    await cli.run("get", "incidents", `incident/${short}`, "-o", "name");
    expect(cli.read()).toBe(kubectlName);
  });

  it("shows several by their names, and reports those that do not exist", async () => {
    const cli = await cliWithIncident();
    await cli.client.create(automationPauses, pauseNamed("other"));
    await cli.client.create(automationPauses, pauseNamed("third"));

    await cli.run("get", "pauses", "freeze", "other", "-o", "name");
    expect(cli.read().match(/\/.*$/gm)).toEqual(["/freeze", "/other"]);
    const incomplete = cli.run("get", "pauses", "freeze", "nothing", "nowhere", "-o", "name");
    await expect(incomplete).rejects.toThrow("there is no pause nothing, nowhere; see: interlock get pauses");
    expect(cli.read()).toMatch(/\/freeze$/);
  });

  it("finds all versions of a workflow by its id", async () => {
    const cli = await cliWithIncident();
    for (const version of ["1.0.0", "2.0.0"]) await cli.client.create(remediationWorkflows, workflow("clean", version));
    await cli.client.create(remediationWorkflows, workflow("other", "1.0.0"));

    await cli.run("get", "workflows", "clean", "-o", "jsonpath={.items[*].metadata.name}");

    expect(cli.read()).toBe("clean-1.0.0 clean-2.0.0");
  });

  it("has a column for the namespace with -A", async () => {
    const cli = await cliWithIncident();

    await cli.run("get", "pauses", "-A");

    expect(cli.read()).toMatch(/^NAMESPACE +NAME .*\ndefault +freeze /);
  });

  it("searches the configured namespace unless an option names another", async () => {
    const cli = await cliWithIncident({ namespace: "kubernaut-system" });
    const listed = async (...options: readonly string[]) => {
      await cli.run("get", "pauses", "-o", "name", ...options);
      return cli.read() !== "";
    };

    expect(await listed()).toBe(false);
    expect(await listed("-n", "default")).toBe(true);
    expect(await listed("-A")).toBe(true);
    await expect(listed("-A", "-n", "default")).rejects.toThrow("exclude each other");
  });

  it("shows whole names and more columns when there is room", async () => {
    const cli = await cliWithIncident();

    await cli.run("get", "incidents", "--output", "wide");

    expect(cli.read()).toMatch(new RegExp(`FINGERPRINT.*\n${name} .*v1:abc`));
  });

  it("prints that there is nothing, but not into the output", async () => {
    const cli = await cliWithIncident();

    await cli.run("get", "approvals");

    expect(cli.read()).toBe("");
    expect(cli.errors).toEqual(["there are no approvals"]);
  });

  it("looks into one namespace when it is named", async () => {
    const cli = await cliWithIncident();

    await cli.run("get", "incidents", "--namespace", "default");

    expect(cli.errors).toEqual(["there are no incidents in default"]);
  });

  it("shows each row that changes, and nothing else, until it is interrupted", async () => {
    const cli = await cliWithIncident();
    const watching = cli.run("get", "pauses", "--watch");
    await settle();
    expect(cli.read()).toMatch(/^NAME .*\nfreeze +All +kim/);

    const ref = { namespace: "default", name: "freeze" };
    await cli.client.patch(automationPauses, ref, { merge: { metadata: { labels: { nothing: "shown" } } } });
    await cli.client.create(automationPauses, pauseNamed("other"));
    await cli.client.delete(automationPauses, ref);
    await settle();

    expect(cli.read()).toMatch(/^other +All +kim.*\nfreeze .* \(deleted\)$/);
    cli.interrupt();
    expect(await watching).toBe(130);
  });

  it.each([
    ["json", (text: string) => text.split(/^(?=\{)/m).map((one) => JSON.parse(one))],
    ["yaml", (text: string) => parseAllDocuments(text).map((one) => one.toJS())],
  ])("watches in %s, one document at a time", async (format, read) => {
    const cli = await cliWithIncident();
    const watching = cli.run("get", "pauses", "-w", "-o", format);
    await settle();
    await cli.client.create(automationPauses, pauseNamed("other"));
    await settle();
    cli.interrupt();
    await watching;

    expect(read(cli.read())).toMatchObject([{ kind: "List" }, { metadata: { name: "other" } }]);
  });

  it.each([
    [["pauses", "-o", "jsonpath"], "the output format jsonpath needs a template"],
    [["pauses", "-o", "jsonpath={.a"], "the jsonpath template is not valid: unbalanced brace"],
    [["insidents"], 'unknown kind "insidents" (did you mean incidents?)'],
    [["incident/a", "pause/b"], "pause/b is not one of incidents; get one kind at a time"],
    [[], "missing required argument 'kind'; see interlock help get"],
    [["cats"], 'unknown kind "cats" (write one of incidents, executions'],
    [["incidents", "rr-nobody-1"], "there is no incident rr-nobody-1; see: interlock get incidents"],
    [["incidents", "--output", "xml"], "argument 'xml' is invalid. Allowed choices are table, wide, json, yaml, name,"],
  ])("called with %j fails and prints what to write", async (args, problem) => {
    const cli = await cliWithIncident();

    await expect(cli.run("get", ...args)).rejects.toThrow(problem);
  });
});

async function cliWithIncident(options: { readonly namespace?: string } = {}): Promise<TestCli> {
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
  return new TestCli(client, options);
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

function workflow(workflowId: string, version: string): RemediationWorkflow {
  const { apiVersion, kind } = remediationWorkflows;
  const metadata = { name: `${workflowId}-${version}`, namespace: "kubernaut-system" };
  return {
    apiVersion,
    kind,
    metadata,
    spec: { workflowId, version, description: "x", engine: "local", containerImage: workflowId, pipeline: "workflow" },
  };
}
