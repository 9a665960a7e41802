import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { KubeClient, KubeObject, ResourceType } from "../../src/kube/index.ts";
import {
  annotationKeys,
  automationPauses,
  remediationApprovalRequests,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { UpProcess } from "../services/up-process.ts";

const namespace = "kubernaut-system";
const me = "interlock-admin";

describe("operators at the stages of npm start", () => {
  let up: UpProcess;
  let client: KubeClient;
  beforeAll(async () => {
    up = await UpProcess.start({
      broken: "exit 1",
      endless: "exec sleep 600",
      guarded: { script: "echo done", entry: { approval: { required: true } } },
    });
    client = await up.client();
  });
  afterAll(() => up.stop());

  /** Runs a command that has to succeed, and returns the name that it printed. */
  async function perform(name: RegExp, ...words: readonly string[]): Promise<string> {
    const { out, err } = await up.interlock(...words);
    const [, found] = name.exec(out) ?? [];
    if (!found) throw new Error(`${words.join(" ")} did not print ${name}: ${out}${err}`);
    return found;
  }

  const requestApproval = (node: string) =>
    perform(/approval (\S+) was/, "run", "guarded", "--target", `node/${node}`, "--no-wait");
  const failedRun = (node: string) => perform(/execution (\S+) was/, "run", "broken", "--target", `node/${node}`);
  async function running(node: string): Promise<string> {
    const name = await perform(/execution (\S+) was/, "run", "endless", "--target", `node/${node}`, "--no-wait");
    await expect
      .poll(async () => (await client.get(workflowExecutions, { namespace, name }))?.status?.phase)
      .toBe("Running");
    return name;
  }

  it("are in the record with their authenticated names, which count as verified", async () => {
    const pause = await perform(/^(pause-\w+):/, "pause", "target", "node/worker-1", "--reason", "release 4");
    await up.interlock("resume", pause, "--reason", "it is out");
    const [approved, rejected] = [await requestApproval("worker-2"), await requestApproval("worker-3")];
    await perform(/is (Approved)/, "approve", approved, "--reason", "looked at it");
    await perform(/is (Rejected)/, "reject", rejected, "--reason", "not today");
    const failed = await failedRun("worker-4");
    await up.interlock("ack", failed, "--reason", "cleaned up");
    const cancelled = await running("worker-5");
    await perform(/(is being cancelled)/, "cancel", cancelled, "--reason", "wrong node");

    const by = `.*by ${me} \\(verified\\).*`;
    const wanted = [
      `pause\\.started.*${pause}${by}release 4`,
      `pause\\.ended.*${pause}${by}it is out`,
      `approval\\.answered.*${approved}${by}Approved.*looked at it`,
      `approval\\.answered.*${rejected}${by}Rejected.*not today`,
      `failure\\.acknowledged.*${failed}${by}cleaned up`,
      `execution\\.cancelled.*${cancelled}${by}wrong node`,
    ];
    for (const line of wanted) {
      await expect.poll(async () => (await up.interlock("ledger", "show")).out).toMatch(new RegExp(line));
    }
    expect((await up.interlock("ledger", "show", "--type", "pause.started")).out).toContain(`by ${me} (verified)`);
  });

  it("cannot acknowledge in another's name", async () => {
    const name = await failedRun("worker-6");

    const answer = annotate(name, { [annotationKeys.acknowledge]: "ok", [annotationKeys.acknowledgedBy]: "kim" });

    await expect(answer).rejects.toThrow(`set the annotation ${annotationKeys.acknowledgedBy} to your own name, ${me}`);
  });

  it("cannot cancel in another's name", async () => {
    const name = await running("worker-7");

    const answer = annotate(name, { [annotationKeys.cancelRequested]: "x", [annotationKeys.cancelRequestedBy]: "kim" });

    await expect(answer).rejects.toThrow(`set the annotation ${annotationKeys.cancelRequestedBy} to your own name`);
    expect((await client.get(workflowExecutions, { namespace, name }))?.metadata.annotations ?? {}).not.toHaveProperty([
      annotationKeys.cancelRequested,
    ]);
    await up.interlock("cancel", name, "--reason", "the test is over");
  });

  it("cannot answer an approval in another's name", async () => {
    const name = await requestApproval("worker-8");
    const decidedAt = new Date(client.serverNowMs()).toISOString();

    const status = { decision: "Approved", decidedBy: "kim", decidedAt, decisionMessage: "ok" };
    const answer = writeStatus(remediationApprovalRequests, name, status);

    await expect(answer).rejects.toThrow(`set status.decidedBy to your own name, ${me}`);
  });

  it("cannot end a pause in another's name", async () => {
    const name = await perform(/^(pause-\w+):/, "pause", "target", "node/worker-9", "--reason", "release 4");

    const status = { endedAt: new Date(client.serverNowMs()).toISOString(), endedBy: "kim", endReason: "ok" };
    const answer = writeStatus(automationPauses, name, status);

    await expect(answer).rejects.toThrow(`set status.endedBy to your own name, ${me}`);
  });

  function annotate(name: string, annotations: object) {
    return client.patch(workflowExecutions, { namespace, name }, { merge: { metadata: { annotations } } });
  }

  function writeStatus(type: ResourceType<KubeObject>, name: string, status: object) {
    return client.patch(type, { namespace, name }, { merge: { status } }, { subresource: "status" });
  }
});
