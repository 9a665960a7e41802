import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import type { KubeClient } from "../../src/kube/index.ts";
import type { NotificationRequest } from "../../src/resources/index.ts";
import { startSlack } from "./doubles/slack.ts";
import { startSmtp } from "./doubles/smtp.ts";
import { NotifierWorld } from "./notifier-world.ts";
import { mailCertificate, testedServices } from "./services.ts";

describe.each(testedServices)("$name", ({ secret, hasThreads, showsInfo, busy, start, env }) => {
  it("shows an incident as one conversation that is updated and resolved", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    await world.startNotifier(env(service.port, secret));
    const incident = await world.openIncident();
    await world.notify(incident, { message: "It failed" });
    await world.settled(1);
    await world.notify(incident, critical);
    await world.settled(2);
    await world.closeIncident(incident);
    const notices = await world.settled(3);

    expect(notices.map(({ status }) => status?.phase)).toEqual(["Sent", "Sent", "Sent"]);
    expect(service.rejections).toEqual([]);
    const conversations = service.conversations();
    const texts = conversations.flatMap(({ messages }) => messages).join("\n");
    expect(texts).toContain("It failed");
    expect(texts).toContain("A person must look");
    expect(conversations).toHaveLength(hasThreads ? 1 : 3);
    expect(conversations.at(-1)?.isResolved).toBe(true);
  });

  it("shows the notices of several incidents at once as one conversation for each incident", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    const incidents = [await world.openIncident(), await world.openIncident()];
    for (let i = 0; i < 4; i++) for (const incident of incidents) await world.notify(incident);
    await world.startNotifier(env(service.port, secret));
    await world.settled(8);

    expect(service.conversations()).toHaveLength(2);
  });

  // Its messages have ids, by which one that was sent is found again.
  if (hasThreads)
    it("opens no second conversation after a lost response or a crash before the status is written", async () => {
      await using world = await NotifierWorld.start();
      await using service = await start(secret);
      let failures = 1;
      await world.startNotifier(env(service.port, secret), (client) => failingOnce(client, () => failures-- > 0));
      const incident = await world.openIncident();
      service.faults = [{ kind: "lost-response" }, { kind: "lost-response" }];
      await world.notify(incident);
      await world.settled(1);
      await world.notify(incident, critical);
      await world.settled(2);

      expect(failures).toBeLessThan(1);
      expect(service.conversations()).toHaveLength(1);
    });

  it("continues and resolves the conversation of a notifier that has ended", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    await world.startNotifier(env(service.port, secret));
    const incident = await world.openIncident();
    await world.notify(incident);
    await world.settled(1);
    await world.stopNotifiers();

    await world.notify(incident, critical);
    await world.closeIncident(incident);
    await world.startNotifier(env(service.port, secret));
    await world.settled(3);

    expect(service.rejections).toEqual([]);
    expect(service.conversations()).toHaveLength(hasThreads ? 1 : 3);
    expect(service.conversations().at(-1)?.isResolved).toBe(true);
  });

  it("leaves an incident open that was closed although a person must review it", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    await world.startNotifier(env(service.port, secret));
    const [reviewed, other] = [await world.openIncident(), await world.openIncident()];
    for (const incident of [reviewed, other]) await world.notify(incident, critical);
    await world.settled(2);
    await world.closeIncident(reviewed, { phase: "Failed", outcome: "ExecutionFailed", requiresManualReview: true });
    await world.closeIncident(other);
    await world.settled(3);

    expect(service.conversations().filter(({ isResolved }) => isResolved)).toHaveLength(1);
  });

  it("shows external text as data, within the limits of the service", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    await world.startNotifier(env(service.port, secret));
    const entries = Array.from({ length: 100 }, (_, i) => ({ name: `entry-${i}`, message: active.repeat(1 + i) }));
    await world.notify(undefined, { message: active, context: { nextStep: active, entries } });
    await world.notify(undefined, {
      message: `${"x".repeat(127)}\u{1f6a8}${active.repeat(500)}`,
      severity: "critical",
    });
    await world.settled(2);

    expect(service.rejections).toEqual([]);
    const text = service
      .conversations()
      .flatMap(({ messages }) => messages)
      .join("\n");
    expect(text).toContain("is a name");
    expect(text.split("\n")).not.toContain("forged");
    expect(text).not.toMatch(/\p{Cs}/u);
  });

  it(`${showsInfo ? "shows" : "does not show"} a notice that is for information`, async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    await world.startNotifier(env(service.port, secret));
    await world.notify(await world.openIncident(), { severity: "info", eventType: "WorkflowCompleted" });
    const [notice] = await world.settled(1);

    expect(service.conversations()).toHaveLength(showsInfo ? 1 : 0);
    expect(notice?.status?.message).toContain(showsInfo ? "delivered to" : "not delivered: no channel needs it");
  });

  it("is retried when it is busy", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    const { status, error } = busy ?? { status: 503, error: "127.0.0.1 responded 503" };
    service.faults = [{ kind: "status", status }];
    await world.startNotifier(env(service.port, secret));
    await world.notify();
    const [notice] = await world.settled(1);

    expect(notice?.status?.deliveryAttempts).toMatchObject([{ status: "failed", error }, { status: "success" }]);
    expect(service.conversations()).toHaveLength(1);
  });

  // It is a service over HTTP.
  if (busy === undefined)
    it("is retried after 429, not before the delay that it asks for", async () => {
      await using world = await NotifierWorld.start();
      await using service = await start(secret);
      service.faults = [{ kind: "status", status: 429, retryAfterSeconds: 300 }];
      await world.startNotifier(env(service.port, secret));
      await world.notify();
      await expect.poll(async () => (await firstStatus(world))?.deliveryAttempts?.length).toBe(1);

      const status = await firstStatus(world);
      expect(status?.deliveryAttempts).toMatchObject([{ status: "failed", error: "127.0.0.1 responded 429" }]);
      const next = status?.phase === "Retrying" ? Date.parse(status.nextAttemptTime) : 0;
      expect(next - Date.parse(status?.deliveryAttempts?.[0]?.at ?? "")).toBe(300_000);
    });

  it("is given up when it rejects the credentials, and the secret is nowhere", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    const wrong = `wrong-${secret}`.slice(0, secret.length);
    await world.startNotifier(env(service.port, wrong));
    await world.notify();
    const [notice] = await world.settled(1);

    expect(notice?.status).toMatchObject({ phase: "Failed", deliveryAttempts: [{ status: "refused" }] });
    expect(service.rejections.length).toBeGreaterThan(0);
    expect(await world.everything()).not.toContain(wrong);
  });

  it("delays no other channel when it does not respond", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    service.faults = [{ kind: "never" }];
    await world.startNotifier({ ...env(service.port, secret), NOTIFY_TIMEOUT: "100ms", NOTIFY_MAX_ATTEMPTS: "1" });
    await world.notify();
    const [notice] = await world.settled(1);

    expect(notice?.status).toMatchObject({
      phase: "Failed",
      deliveryAttempts: [{ status: "timeout", error: "127.0.0.1 did not respond in time" }],
    });
  });

  it("is not reached on this machine without notify.allowedNetworks", async () => {
    await using world = await NotifierWorld.start();
    await using service = await start(secret);
    await world.startNotifier({ ...env(service.port, secret), NOTIFY_ALLOWED_NETWORKS: "" });
    await world.notify();
    const [notice] = await world.settled(1);

    expect(notice?.status?.deliveryAttempts).toMatchObject([
      { status: "refused", error: expect.stringContaining("notify.allowedNetworks") },
    ]);
  });
});

describe("mail", () => {
  const env = (port: number, more: Record<string, string> = {}) => ({
    NOTIFY_SMTP_SERVER: `smtp://127.0.0.1:${port}`,
    NOTIFY_SMTP_CA_FILE: mailCertificate.file,
    NOTIFY_SMTP_USER: "interlock",
    NOTIFY_SMTP_PASSWORD: "smtp-pa55word",
    NOTIFY_EMAIL_FROM: "interlock@example.com",
    NOTIFY_EMAIL_TO: "oncall@example.com, unknown@example.com",
    ...more,
  });
  const startServer = (unknownRecipients: readonly string[] = []) =>
    startSmtp({ user: "interlock", password: "smtp-pa55word", ...mailCertificate, unknownRecipients });

  it("is reported as not delivered if the server rejects one of the recipients", async () => {
    await using world = await NotifierWorld.start();
    await using service = await startServer(["unknown@example.com"]);
    await world.startNotifier(env(service.port));
    await world.notify();
    const [notice] = await world.settled(1);

    expect(notice?.status?.deliveryAttempts).toMatchObject([
      { status: "refused", error: "127.0.0.1 rejected 1 of 2 recipients" },
    ]);
  });

  it("is not sent to a server with a certificate of an unknown authority", async () => {
    await using world = await NotifierWorld.start();
    await using service = await startServer();
    await world.startNotifier(env(service.port, { NOTIFY_SMTP_CA_FILE: "", NOTIFY_MAX_ATTEMPTS: "1" }));
    await world.notify();
    const [notice] = await world.settled(1);

    expect(notice?.status?.phase).toBe("Failed");
    expect(service.conversations()).toEqual([]);
  });

  it.each([
    ["one line", "x".repeat(65_536)],
    ["lines", "220-x\r\n".repeat(10_000)],
  ])("to a server whose greeting never ends fails: %s", async (_, chunk) => {
    await using world = await NotifierWorld.start();
    const server = createServer((socket) => {
      const write = () => {
        while (!socket.destroyed && socket.write(chunk));
      };
      socket.on("error", () => {}).on("drain", write);
      write();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    await world.startNotifier(env((server.address() as AddressInfo).port, { NOTIFY_MAX_ATTEMPTS: "1" }));
    await world.notify();
    const [notice] = await world.settled(1);
    server.close();

    expect(notice?.status).toMatchObject({
      phase: "Failed",
      deliveryAttempts: [{ status: "failed", error: "127.0.0.1 cannot be reached: EPROTOCOL" }],
    });
  });

  it("does not start with a login and without encryption", async () => {
    await using world = await NotifierWorld.start();

    await expect(world.startNotifier(env(25, { NOTIFY_SMTP_ENCRYPTION: "off" }))).rejects.toThrow("notify.smtpUser");
  });
});

describe("Slack as a bot", () => {
  it("does not start with a webhook besides", async () => {
    await using world = await NotifierWorld.start();
    const env = {
      NOTIFY_SLACK_TOKEN: "xoxb-1",
      NOTIFY_SLACK_CHANNEL: "C024BE91L",
      NOTIFY_SLACK_URL: "https://a.example",
    };

    await expect(world.startNotifier(env)).rejects.toThrow("notify.slackUrl and notify.slackToken are both set");
  });

  it("without the right to read the channel opens threads, too", async () => {
    await using world = await NotifierWorld.start();
    await using service = await startSlack({ token: "xoxb-1", channel: "C024BE91L", scopes: ["chat:write"] });
    await world.startNotifier({
      NOTIFY_SLACK_TOKEN: "xoxb-1",
      NOTIFY_SLACK_CHANNEL: "C024BE91L",
      NOTIFY_SLACK_API_URL: `http://127.0.0.1:${service.port}/api`,
    });
    const incident = await world.openIncident();
    await world.notify(incident);
    await world.settled(1);
    await world.notify(incident, critical);
    await world.settled(2);

    expect(service.conversations()).toMatchObject([{ messages: [expect.anything(), expect.anything()] }]);
  });
});

const critical = {
  eventType: "ManualReviewRequired",
  severity: "critical",
  message: "A person must look",
} as const satisfies Partial<NotificationRequest["spec"]>;

/** Text that is active on some service, if it is not escaped. */
const active =
  "<!channel> <@U1> <https://evil.example|x> & @all @channel **is a name** [x](https://evil.example) ``` ~~x~~ {{DATE(2026-01-01T00:00:00Z)}}\nforged\r\n\u001b[31m\u202e";

async function firstStatus(world: NotifierWorld) {
  return (await world.notices())[0]?.status;
}

/** A client whose status update fails while `mustFail` returns true, as if the process had died before it. */
function failingOnce(client: KubeClient, mustFail: () => boolean): KubeClient {
  return {
    ...client,
    async update(...call) {
      if (mustFail()) throw new Error("the process died");
      return await client.update(...call);
    },
  };
}
