import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UpProcess } from "../services/up-process.ts";
import { nextStepWorks, whyOf } from "./next-step.ts";

const place = mkdtempSync(join(tmpdir(), "interlock-incidents-"));
const go = join(place, "go");
const broken = join(place, "broken");
writeFileSync(broken, "");

const workflows = {
  clean: "true",
  slow: `while [ ! -e ${go} ]; do sleep 0.05; done`,
  other: "true",
  break: `! [ -e ${broken} ]`,
  ask: { script: "true", entry: { approval: { required: true } } },
};
const rules = Object.keys(workflows).map((workflow) => ({
  name: `for-${workflow}`,
  match: { signalName: `/${workflow}.*/` },
  workflow,
}));

/** The user name of callers with the API server's token. */
const serverName = "interlock-admin";

let up: UpProcess;
beforeAll(async () => {
  up = await UpProcess.start(workflows, { rules });
}, 60_000);
afterAll(async () => {
  writeFileSync(go, "");
  await up.stop();
  rmSync(place, { recursive: true, force: true });
});

describe("interlock why, of an incident", { timeout: 60_000 }, () => {
  it("prints the decision, its checks and the end of the verification", async () => {
    const incident = await up.signal("clean", "node/a");

    const explained = await why(incident, "Verifying");

    expect(explained).toMatch(/^rr-\S+: clean \(unknown\), about node\/a\n/);
    expect(explained).toContain("diagnosis    clean on node/a, by rule for-clean");
    expect(explained).toMatch(/execution {4}\S+ completed in/);
    expect(explained).toMatch(/verification it is closed when it resolves, or at \S+ if nothing is reported after/);
    expect(explained).toMatch(/\nDecided at \S+: run\n {2}may run now\n\n {2}0 {2}a workflow is found/);
    expect(explained).toContain("Now: clean on node/a: not now, RecentlyRemediated (cooldown)");
    expect((await up.interlock("logs", incident)).out).toMatch(/^── task \S+, step /);
  });

  it("names the rules that were tried when none applies", async () => {
    const incident = await up.signal("nothing", "node/a");

    const explained = await why(incident, "Blocked");

    expect(explained).toContain("Decided at");
    expect(explained).toContain("no rule matches; tried for-clean (signalName is nothing)");
    expect(explained).toContain("next: add a rule that matches");
  });

  it("prints the holder it waits for, and the execution it follows", async () => {
    const first = await up.signal("slow", "node/b");
    await why(first, "Executing");
    const follower = await up.signal("slow-too", "node/b");
    const waiting = await up.signal("other", "node/b");

    const following = await why(follower, "Executing");
    const blocked = await why(waiting, "Blocked");

    expect(following).toMatch(/follows +(\S+) has run since \S+; read its output: interlock logs \1/);
    expect(blocked).toMatch(/Decided at \S+: block, ResourceBusy/);
    await works(/wait for it, or read its output: interlock (logs) (\S+)/, blocked);
    writeFileSync(go, "");
    await why(follower, "Verifying");
    expect(await why(waiting, "Verifying")).toMatch(/execution {4}\S+ completed/);
  });

  it("prints the same in JSON", async () => {
    const incident = await up.signal("clean", "node/c");
    await why(incident, "Verifying");

    const { out } = await up.interlock("why", incident, "--output", "json");

    const facts = JSON.parse(out);
    expect(facts).toMatchObject({
      spec: { signalName: "clean" },
      status: { phase: "Verifying", diagnosis: { workflowId: "clean", target: "node/c" } },
      executions: [{ status: { phase: "Completed" } }],
      approvals: [],
      decided: { type: "incident.decided", facts: { verdict: "run" } },
      now: [{ decision: { verdict: "block", reason: "RecentlyRemediated" } }],
    });
    expect(facts.decided.facts.checks).toHaveLength(9);
  });
});

describe("the next step that why prints", { timeout: 60_000 }, () => {
  it("ends a pause", async () => {
    await up.interlock("pause", "target", "node/d", "--reason", "release");
    const incident = await up.signal("clean", "node/d");
    const explained = await why(incident, "Blocked");

    await works(/next: wait, or end it: interlock (resume) (\S+) (--reason) "…"/, explained);

    await why(incident, "Verifying");
    const { items } = JSON.parse((await up.interlock("get", "pauses", "-o", "json")).out);
    expect(items).toMatchObject([{ spec: { requestedBy: serverName }, status: { endedBy: serverName } }]);
  });

  it("approves a workflow that requires an approval", async () => {
    const incident = await up.signal("ask", "node/e");
    const explained = await why(incident, "AwaitingApproval");

    await works(/ {2}approval +interlock (approve) (\S+) (--reason) "…"/, explained);

    expect(await why(incident, "Verifying")).toMatch(/approval +\S+ was Approved by interlock-admin at \S+: a reason/);
  });

  it("rejects it", async () => {
    const incident = await up.signal("ask", "node/f");
    const explained = await why(incident, "AwaitingApproval");

    await works(/or interlock (reject) (\S+) (--reason) "…"/, explained);

    expect(await why(incident, "Failed")).toMatch(/outcome +ApprovalRejected, at/);
  });

  it("acknowledges a failure, of the execution that failed", async () => {
    const explained = await blockedByFailure("node/g");
    writeFileSync(broken, "");

    await works(/next: check the effects of \S+, then: interlock (ack) (\S+) (--reason) "…"/, explained.text);

    expect(await why(explained.incident, "Failed")).toContain("outcome      ExecutionFailed");
  });

  it("works with the name of the incident, too", async () => {
    const { incident } = await blockedByFailure("node/h");
    rmSync(broken);

    const { status, out } = await up.interlock("ack", incident, "--reason", "looked at it");

    expect(status).toBe(0);
    expect(out).toContain(`${incident} is acknowledged by`);
    await why(incident, "Verifying");
    writeFileSync(broken, "");
    const again = await up.interlock("ack", incident, "--reason", "once more");
    expect(again.err).toContain(`incident ${incident} does not wait for an acknowledgement`);
  });

  it("acknowledges the execution that closed an incident, by the name of that incident", async () => {
    writeFileSync(broken, "");
    const failed = await up.signal("break", "node/k");
    expect(await why(failed, "Failed")).toContain("review       an operator has to review it");

    await up.interlock("ack", failed, "--reason", "looked at it");

    expect(await why(failed, "Failed")).toContain("review       acknowledged by interlock-admin: looked at it");
  });

  /** A second incident, blocked by the failure of the first one's execution. */
  async function blockedByFailure(target: string) {
    const failed = await up.signal("break", target);
    await why(failed, "Failed");
    const incident = await up.signal("break-again", target);
    return { incident, text: await why(incident, "Blocked") };
  }
});

describe("interlock receive --dry-run", { timeout: 60_000 }, () => {
  it("prints the effect of a signal, its rule and the current decision of the policy", async () => {
    const file = join(place, "alert.json");
    const labels = { alertname: "clean", namespace: "payment", pod: "api-1", severity: "warning" };
    const annotations = { interlock_target: "node/z" };
    writeFileSync(file, JSON.stringify({ version: "4", alerts: [{ status: "firing", labels, annotations }] }));

    const { status, out } = await up.interlock("receive", "alertmanager", "-p", file, "--dry-run");

    expect(status).toBe(0);
    expect(out).toMatch(
      /^clean \(warning\)\n( {2}field .*\n)+ {2}subject +node\/z\n {2}fingerprint +v1:[0-9a-f]{64}\n/,
    );
    expect(out).toMatch(/gateway +Incident would be opened\. rr-/);
    expect(out).toContain("rule         for-clean: clean on node/z\n  policy       may run now\n");
    expect((await up.interlock("get", "incidents", "-o", "json")).out).not.toContain('"node/z"');
  });

  it.each([
    ["alertmanager", "examples/node-disk-pressure.json", "name = KubeNodeDiskPressure, from labels.alertname"],
    ["grafana", "examples/senders/grafana/firing.json", 'from row "everything else" of the label provenance table'],
    [
      "datadog",
      "examples/senders/datadog/firing.json",
      'from labels.kube_namespace + "/deployment/" + labels.kube_deployment',
    ],
    ["pagerduty", "examples/senders/pagerduty/firing.json", "labels.service = payment, from item.data.service.summary"],
  ])("explains the mapping of %s field by field", async (source, file, line) => {
    const { status, out } = await up.interlock("receive", source, "-p", file, "--dry-run");

    expect(status).toBe(0);
    expect(out).toContain(line);
  });

  it("prints the rules that were tried, and the reason not to run now", async () => {
    const file = join(place, "signals.json");
    await up.interlock("run", "clean", "--target", "node/y");
    const signals = [
      { name: "clean", target: "node/y" },
      { name: "unknown", target: "node/y" },
    ];
    writeFileSync(file, JSON.stringify(signals));

    const { out } = await up.interlock("receive", "generic", "-p", file, "--dry-run");

    expect(out).toMatch(/policy +not now, RecentlyRemediated: .* completed clean at/);
    expect(out).toContain(
      "rule         none applies, so no workflow would run\n               for-clean (signalName is unknown)",
    );
  });

  it.each([
    [["alertmanager"], 2, "required option '-p, --payload <FILE>' not specified"],
    [
      ["carrier-pigeon", "-p", "package.json"],
      1,
      "the gateway has no sender carrier-pigeon; use alertmanager, alertmanager-groups, generic",
    ],
    [["generic", "-p", "nowhere.json"], 1, "the payload nowhere.json cannot be read (ENOENT)"],
    [["generic", "-p", "README.md"], 1, "the payload README.md is not JSON"],
    [
      ["generic", "-p", "package.json", "--gateway", "http://127.0.0.1:1"],
      4,
      "no gateway responds at http://127.0.0.1:1",
    ],
    [["generic", "-p", "package.json", "--token-file", "nowhere"], 1, "the token file nowhere cannot be read"],
  ])("with %j exits with %j and prints what to do", async (words, expected, problem) => {
    const { status, err } = await up.interlock("receive", ...words);

    expect(status).toBe(expected);
    expect(err).toContain(problem);
  });

  it("prints every problem of an invalid payload", async () => {
    const { status, out } = await up.interlock("receive", "alertmanager", "-p", "package.json");

    expect(status).toBe(1);
    expect(out).toContain("refused: Unprocessable Entity");
    expect(out).toMatch(/\n {2}version is not 4/);
  });
});

const why = (incident: string, phase: string) => whyOf(up, incident, phase);
const works = (expected: RegExp, explained: string) => nextStepWorks(up, expected, explained);
