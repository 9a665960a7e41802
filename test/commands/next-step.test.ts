import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { UpProcess } from "../services/up-process.ts";
import { nextStepWorks, whyOf } from "./next-step.ts";

const workflows = { clean: "true", broken: "true" };
const rules = Object.keys(workflows).map((workflow) => ({ name: workflow, match: { signalName: workflow }, workflow }));
const settings = {
  execution: { maxConsecutiveFailures: 1 },
  resource_locking: { cooldown_period: "0s" },
  verification: { grace: "0s" },
  ineffective: { times: 1 },
};

let up: UpProcess;
beforeAll(async () => {
  up = await UpProcess.start(workflows, { rules, settings });
}, 60_000);
afterAll(() => up.stop());

describe("the next step that why prints", { timeout: 60_000 }, () => {
  it("tries again what failed too often before acting", async () => {
    const pipeline = join(up.directory, "workflows", "broken", "pipeline.yaml");
    const right = readFileSync(pipeline, "utf8");
    // Valid as a document, so the workflow stays in the catalog; the engine refuses every run of it for this target.
    const refusing = parse(right);
    refusing.spec.params = [{ name: "TARGET_RESOURCE", type: "string", enum: ["node/other"] }];
    writeFileSync(pipeline, stringify(refusing));
    const incident = await up.signal("broken", "node/a");
    const explained = await why(incident, "Blocked: 1 failure in a row before acting");

    expect(explained).toMatch(/Decided at \S+: block, ExhaustedRetries/);
    writeFileSync(pipeline, right);
    await works(/next: fix the cause, then: interlock (ack) (\S+) (--reason) "…"/, explained);

    expect(await why(incident, "Verifying")).toMatch(/execution {4}\S+ completed/);
  });

  it("tries again what succeeded without lasting", async () => {
    const incident = await up.signal("clean", "node/b");
    await why(incident, "Verifying");
    await up.signal("clean", "node/b");
    const explained = await why(incident, "Blocked: clean ");

    expect(explained).toMatch(/Decided at \S+: block, Ineffective/);
    await works(/next: find the cause behind it, then: interlock (ack) (\S+) (--reason) "…"/, explained);

    expect(await why(incident, "Verifying")).toMatch(/(execution {4}\S+ completed[\s\S]*){2}/);
  });
});

const why = (incident: string, phase: string) => whyOf(up, incident, phase);
const works = (expected: RegExp, explained: string) => nextStepWorks(up, expected, explained);
