import { createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openNotify } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { KubeClient } from "../../src/kube/index.ts";
import { LedgerError, type MemoryLedger, memoryLedger } from "../../src/ledger/index.ts";
import { installCrds, type NotificationRequest, notificationRequests } from "../../src/resources/index.ts";
import { promMetrics } from "../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { type RecordingLogger, recordingLogger } from "../doubles/recording-logger.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const namespace = "kubernaut-system";
const clock = systemClock();
const random = systemRandom();

let client: KubeClient;
let ledger: MemoryLedger;
let log: RecordingLogger;
let receiver: Receiver;
let printed: string[];
let directory: string;
let open: { close(): Promise<void> }[];

beforeEach(async () => {
  client = testCluster({ clock, random, namespaces: [namespace, "payment"] }).client();
  await installCrds(client);
  ledger = memoryLedger();
  log = recordingLogger();
  receiver = await startReceiver();
  printed = [];
  open = [];
  directory = mkdtempSync(join(tmpdir(), "interlock-notify-"));
});

afterEach(async () => {
  await Promise.all(open.map((stage) => stage.close()));
  await receiver[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

describe("a notice", () => {
  it("is posted with its facts and the next step, signed, with its own key", async () => {
    await start({ ...webhook(), NOTIFY_WEBHOOK_SECRET: "s1gning-key" });
    const { uid } = await request({ context: { execution: "wfe-1", targetResource: "prod/deployment/api" } });
    await ended();

    const [letter] = receiver.letters;
    const body = JSON.parse(letter?.body ?? "");
    expect(body).toMatchObject({
      title: "It failed",
      facts: ["target: prod/deployment/api", "execution: wfe-1"],
      next: expect.stringContaining("interlock retry wfe-1"),
      eventType: "WorkflowFailed",
      severity: "warning",
      namespace,
    });
    expect(letter?.headers["idempotency-key"]).toBe(uid);
    expect(letter?.headers["x-interlock-signature"]).toBe(signatureOf(letter, "s1gning-key"));
    expect(await statuses()).toMatchObject([
      { phase: "Sent", message: "delivered to webhook", deliveryAttempts: [{ channel: "webhook", status: "success" }] },
    ]);
    expect(ledger.events()).toMatchObject([{ id: `${uid}/notice.sent`, type: "notice.sent" }]);
  });

  it("is retried with the same key until it arrives, and every attempt is in its status", async () => {
    receiver.answers = [500, "hang-up", 200];
    await start(webhook());
    await request();
    await ended();

    expect(new Set(receiver.letters.map(({ headers }) => headers["idempotency-key"])).size).toBe(1);
    expect(receiver.letters).toHaveLength(3);
    const [status] = await statuses();
    expect(status?.phase).toBe("Sent");
    expect(status?.deliveryAttempts?.map(({ attempt, status, error }) => [attempt, status, error])).toEqual([
      [1, "failed", "127.0.0.1 responded 500"],
      [2, "failed", "127.0.0.1 cannot be reached: ECONNRESET"],
      [3, "success", undefined],
    ]);
  });

  it("is delivered by one of several replicas, and by another after that one stops", async () => {
    const first = await start(webhook());
    await start(webhook());
    await start(webhook());
    for (let i = 0; i < 10; i++) await request();
    await ended();
    expect(receiver.letters).toHaveLength(10);

    await first.close();
    for (let i = 0; i < 10; i++) await request();
    await ended();

    expect(new Set(receiver.letters.map(({ headers }) => headers["idempotency-key"])).size).toBe(20);
    expect(receiver.letters).toHaveLength(20);
  });

  it("that is not delivered before a restart is delivered after it, and no other", async () => {
    const first = await start(webhook());
    await request();
    await ended();
    await first.close();
    await request();

    await start(webhook());
    await ended();

    expect(receiver.letters).toHaveLength(2);
  });

  it("contains no secret, whatever fails", async () => {
    receiver.answers = [404];
    const url = `http://user:pa55w0rd@127.0.0.1:${receiver.port}/hidden-path?token=t0ken`;
    await start({ ...webhook(), NOTIFY_WEBHOOK_URL: url, NOTIFY_SLACK_URL: url, NOTIFY_WEBHOOK_SECRET: "s1gning-key" });
    await request();
    await ended();

    const everything = inspect([await statuses(), ledger.events(), log.events, printed], { depth: 9 });
    expect(everything).toContain("responded 404");
    expect(everything).not.toMatch(/pa55w0rd|hidden-path|t0ken|s1gning-key/);
  });
});

describe("settings", () => {
  it("notify.console: prints, or does not", async () => {
    await start({ NOTIFY_CONSOLE: "true" });
    await request({ severity: "critical", context: { targetResource: "node/one" } });
    await ended();
    expect(printed).toEqual(["[critical] It failed", "  target: node/one", expect.stringMatching(/^ {2}next: /)]);

    await Promise.all(open.splice(0).map((stage) => stage.close()));
    await start({ NOTIFY_CONSOLE: "false" });
    await request();
    await ended();

    expect(printed.filter((line) => line.startsWith("["))).toHaveLength(1);
  });

  it("notify.file: a line of JSON for each", async () => {
    const file = join(directory, "notices.jsonl");
    await start({ NOTIFY_CONSOLE: "false", NOTIFY_FILE: file });
    await request();
    await request();
    await ended();

    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).title)).toEqual(["It failed", "It failed"]);
  });

  it("notify.file: a line that was cut short does not spoil the next one", async () => {
    const file = join(directory, "notices.jsonl");
    writeFileSync(file, '{"key":"half a l');
    await start({ NOTIFY_CONSOLE: "false", NOTIFY_FILE: file });
    await request();
    await ended();

    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(JSON.parse(lines[1] ?? "")).toMatchObject({ title: "It failed" });
  });

  it("notify.webhookSecretFile: signs with its content", async () => {
    writeFileSync(join(directory, "secret"), "from-a-file\n");
    await start({ ...webhook(), NOTIFY_WEBHOOK_SECRET_FILE: join(directory, "secret") });
    await request();
    await ended();

    const [letter] = receiver.letters;
    expect(letter?.headers["x-interlock-signature"]).toBe(signatureOf(letter, "from-a-file"));
  });

  it("notify.slackUrl: external text is inert in Slack: no mention, link, markup or forged line", async () => {
    await start({ ...quiet, NOTIFY_SLACK_URL: `http://127.0.0.1:${receiver.port}/services/T0` });
    const nextStep = "<https://evil.example|look>\nNext: interlock approve it <@U123>\u202e";
    await request({ message: "<!channel> is a name & no more", context: { nextStep } });
    await ended();

    expect(receiver.letters[0]?.path).toBe("/services/T0");
    const { text, ...options } = JSON.parse(receiver.letters[0]?.body ?? "");
    expect(text.split("\n")).toEqual([
      expect.stringContaining("&lt;!channel&gt; is a name &amp; no more"),
      String.raw`Next: &lt;https://evil.example|look&gt;\nNext: interlock approve it &lt;@U123&gt;\u202e`,
    ]);
    expect(options).toEqual({ mrkdwn: false, link_names: false, unfurl_links: false, unfurl_media: false });
  });

  it("notify.slackUrlFile: posts to its content", async () => {
    writeFileSync(join(directory, "slack"), `http://127.0.0.1:${receiver.port}/services/T1\n`);
    await start({ ...quiet, NOTIFY_SLACK_URL_FILE: join(directory, "slack") });
    await request();
    await ended();

    expect(receiver.letters[0]?.path).toBe("/services/T1");
  });

  it("notify.slackUrlFile: a missing file stops the start, and the error names the setting", async () => {
    await expect(start({ NOTIFY_SLACK_URL_FILE: join(directory, "nothing") })).rejects.toThrow("notify.slackUrlFile: ");
  });

  it("notify.routes: selects the channels of notices", async () => {
    const routes = "severity=critical -> webhook; namespace=payment -> console; target=node/* -> file";
    await start({ ...webhook(), NOTIFY_CONSOLE: "true", NOTIFY_ROUTES: routes });
    await request({ severity: "critical" });
    await request({ severity: "info" }, "payment");
    await request({ severity: "info" });
    await ended();

    expect(receiver.letters).toHaveLength(1);
    expect(printed.filter((line) => line.startsWith("["))).toHaveLength(1);
    expect((await statuses()).map((status) => status?.message).sort()).toEqual([
      "delivered to console",
      "delivered to webhook",
      "not delivered: no route matches",
    ]);
    expect(log.events).toContainEqual(
      expect.objectContaining({ event: "route to unknown channel", fields: { channel: "file" } }),
    );
  });

  it("is delivered once although the ledger cannot record its end for a while", async () => {
    const { append } = ledger;
    let refusals = 0;
    ledger = {
      ...ledger,
      append: (event) => (refusals++ < 3 ? Promise.reject(new LedgerError("failed", "no space left")) : append(event)),
    };
    await start(webhook());
    await request();
    await ended();

    expect(refusals).toBe(4);
    expect(receiver.letters).toHaveLength(1);
    expect(await statuses()).toMatchObject([{ phase: "Sent", deliveryAttempts: [{ status: "success" }] }]);
    expect(ledger.events()).toMatchObject([{ type: "notice.sent" }]);
  });

  it("notify.allowedNetworks: without it this machine is refused", async () => {
    await start({ ...webhook(), NOTIFY_ALLOWED_NETWORKS: "" });
    await request();
    await ended();

    expect(receiver.letters).toHaveLength(0);
    expect(await statuses()).toMatchObject([
      { phase: "Failed", deliveryAttempts: [{ status: "refused", error: expect.stringContaining("allowedNetworks") }] },
    ]);
    expect(ledger.events()).toMatchObject([{ type: "notice.failed" }]);
  });

  it("notify.digestWindow: skips on one target are delivered together", async () => {
    // Created before the notifier starts: the time that this takes must not decide which of them share a digest.
    for (let i = 0; i < 5; i++) await request(skip("node/one", i < 3 ? "ResourceBusy" : "Paused"));
    await request(skip("node/two", "Paused"));
    await start({ ...webhook(), NOTIFY_DIGEST_WINDOW: "2s" });
    await ended(7);

    const letters = receiver.letters.map(({ body }) => JSON.parse(body));
    expect(letters).toHaveLength(2);
    const digest = letters.find(({ context }) => context.targetResource === "node/one");
    expect(digest.title).toBe("5 workflow executions on node/one were skipped: 3 × ResourceBusy, 2 × Paused");
    expect(digest.context.entries).toHaveLength(5);
    const phases = (await statuses()).map((status) => status?.phase).sort();
    expect(phases).toEqual([...Array(5).fill("Digested"), "Sent", "Sent"]);
  });

  it("notify.digestWindow 0s: each by itself", async () => {
    await start({ ...webhook(), NOTIFY_DIGEST_WINDOW: "0s" });
    for (let i = 0; i < 3; i++) await request(skip("node/one", "Paused"));
    await ended();

    expect(receiver.letters).toHaveLength(3);
  });

  it("notify.maxAttempts: the number of attempts", async () => {
    receiver.answers = [503];
    await start({ ...webhook(), NOTIFY_MAX_ATTEMPTS: "3" });
    await request();
    await ended();

    expect(receiver.letters).toHaveLength(3);
    expect(await statuses()).toMatchObject([{ phase: "Failed", message: "given up on webhook" }]);
  });

  it("notify.retention: a settled notice is removed after it, and its ledger row stays", async () => {
    const longAgo = new Date(Date.now() - 2 * 60 * 60_000).toISOString();
    await settledAt(longAgo, "Sent");
    await settledAt(longAgo, "Failed");
    const recent = await settledAt(new Date().toISOString(), "Sent");
    await start({ ...webhook(), NOTIFY_RETENTION: "1h" });
    const { uid } = await request();
    await ended();

    await expect.poll(async () => (await uids()).sort()).toEqual([recent, uid].sort());
    expect(receiver.letters).toHaveLength(1);
    expect(ledger.events()).toMatchObject([{ id: `${uid}/notice.sent` }]);
  });

  it.each([
    ["1h", "2h", 2_880_000, 4_320_000],
    ["1h", "10s", 8_000, 12_000],
  ])("notify.backoff.base %s and max %s: the delay of the next attempt", async (base, max, fromMs, toMs) => {
    receiver.answers = [503];
    await start({ ...webhook(), NOTIFY_BACKOFF_BASE: base, NOTIFY_BACKOFF_MAX: max });
    await request();
    await expect.poll(async () => (await statuses())[0]?.phase).toBe("Retrying");

    const [status] = await statuses();
    const next = status?.phase === "Retrying" ? Date.parse(status.nextAttemptTime) : 0;
    const waitMs = next - Date.parse(status?.deliveryAttempts?.[0]?.at ?? "");
    expect(waitMs).toBeGreaterThanOrEqual(fromMs);
    expect(waitMs).toBeLessThanOrEqual(toMs);
  });

  it("notify.timeout: a receiver that never responds delays no other", async () => {
    receiver.answers = ["never"];
    await start({ ...webhook(), NOTIFY_TIMEOUT: "50ms", NOTIFY_MAX_ATTEMPTS: "1" });
    await request();
    await ended();

    expect(await statuses()).toMatchObject([{ phase: "Failed", deliveryAttempts: [{ status: "timeout" }] }]);
  });
});

/** Only the settings that a test needs, and short waits. */
const quiet = { NOTIFY_CONSOLE: "false", NOTIFY_BACKOFF_BASE: "10ms", NOTIFY_ALLOWED_NETWORKS: "127.0.0.0/8" };

function webhook(): Record<string, string> {
  return { ...quiet, NOTIFY_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/notices` };
}

async function start(env: Record<string, string>) {
  const loaded = loadConfig({ env });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  const print = (text: string) => void printed.push(text);
  const stage = await openNotify({
    loaded,
    // Delivers with only the rights of the shipped roles.
    client: permittedClient(client, "notify"),
    ledger,
    clock,
    random,
    log,
    metrics: promMetrics(),
    print,
  });
  let isClosed = false;
  const once = {
    async close() {
      if (!isClosed) await stage.close();
      isClosed = true;
    },
  };
  open.push(once);
  return once;
}

let created = 0;

async function request(spec: Partial<NotificationRequest["spec"]> = {}, where = namespace) {
  const { apiVersion, kind } = notificationRequests;
  const outcome = await client.create(notificationRequests, {
    apiVersion,
    kind,
    metadata: { name: `notice-${++created}`, namespace: where },
    spec: { eventType: "WorkflowFailed", severity: "warning", message: "It failed", ...spec },
  });
  if (outcome.kind !== "created") throw new Error("it was there already");
  return outcome.object.metadata;
}

function skip(targetResource: string, skipReason: "ResourceBusy" | "Paused"): Partial<NotificationRequest["spec"]> {
  return {
    eventType: "WorkflowSkipped",
    severity: "info",
    message: "Workflow execution skipped",
    context: { targetResource, skipReason },
  };
}

/** Creates a notice that was settled at that time. Returns its uid. */
async function settledAt(completionTime: string, phase: "Sent" | "Failed"): Promise<string> {
  const notice = await request();
  const ref = { name: notice.name ?? "", namespace };
  const found = await client.get(notificationRequests, ref);
  if (!found) throw new Error("the notice is gone");
  await client.update(notificationRequests, { ...found, status: { phase, completionTime } }, { subresource: "status" });
  return notice.uid ?? "";
}

async function uids() {
  return (await client.list(notificationRequests)).items.map(({ metadata }) => metadata.uid);
}

async function statuses() {
  return (await client.list(notificationRequests)).items.map(({ status }) => status);
}

/** Waits until every notice is settled, and there are as many as expected. */
async function ended(atLeast = 1) {
  const settled = ["Sent", "PartiallySent", "Failed", "Digested"];
  const isEnded = async () => {
    const all = await statuses();
    return all.length >= atLeast && all.every((status) => settled.includes(status?.phase ?? ""));
  };
  await expect.poll(isEnded, { interval: 20 }).toBe(true);
}

function signatureOf(letter: { headers: Record<string, unknown>; body: string } | undefined, secret: string): string {
  const text = `${letter?.headers["x-interlock-timestamp"]}.${letter?.body}`;
  return `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
}
