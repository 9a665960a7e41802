import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openGateway, type RunningGateway } from "../../src/app/index.ts";
import { loadConfig } from "../../src/config/index.ts";
import { type KubeClient, KubeError } from "../../src/kube/index.ts";
import { type Ledger, LedgerError, type MemoryLedger, memoryLedger } from "../../src/ledger/index.ts";
import { type CodingTask, codingTasks, installCrds } from "../../src/resources/index.ts";
import { type PromMetrics, promMetrics } from "../../src/telemetry/index.ts";
import { type Clock, systemClock, systemRandom } from "../../src/time/index.ts";
import { permittedClient } from "../doubles/permitted-client.ts";
import { type RecordingLogger, recordingLogger } from "../doubles/recording-logger.ts";
import { testCluster } from "../doubles/test-cluster.ts";

const secret = "the-secret-of-the-webhook";
const sha = "da1560886d4f094c3e6c9ef40349f7d38b5d27d7";
const usual = { GITLAB_URL: "https://gitlab.example.com/", GITLAB_WEBHOOK_SECRET: secret };
const path = "/api/v1/webhooks/gitlab";

describe("a webhook of GitLab", () => {
  const clock = systemClock();
  const random = systemRandom();
  let cluster: KubeClient;
  let ledger: MemoryLedger;
  let log: RecordingLogger;
  let directory: string;
  let running: RunningGateway[];
  let metrics: PromMetrics[];

  beforeEach(async () => {
    const namespaces = ["kubernaut-system", "elsewhere"];
    cluster = testCluster({ clock, random, namespaces }).client();
    await installCrds(cluster);
    ledger = memoryLedger();
    log = recordingLogger();
    metrics = [];
    running = [];
    directory = await mkdtemp(join(tmpdir(), "interlock-webhooks-"));
  });

  afterEach(async () => {
    await Promise.all(running.map((gateway) => gateway.close()));
    await rm(directory, { recursive: true, force: true });
  });

  it("creates its task before the response", async () => {
    const post = await open();

    const answer = await post(mergeRequestEvent());

    const [task] = await tasks();
    expect(answer).toMatchObject({
      status: 201,
      body: { status: "queued", task: task?.metadata.name, namespace: "kubernaut-system" },
    });
    expect(task?.spec).toMatchObject({
      type: "Review",
      source: "webhook",
      claimKey: `review:gitlab.example.com:5:7:${sha}`,
      targetResource: "git:gitlab.example.com/5@topic",
    });
    expect(ledger.events().map(({ type, id }) => [type, id])).toContainEqual([
      "task.received",
      `${task?.metadata.uid}/task.received`,
    ]);
  });

  it("is accepted at the path of other agents, too", async () => {
    const post = await open();

    expect(await post(noteEvent(), { path: "/webhook" })).toMatchObject({ status: 201 });
    expect((await tasks())[0]?.spec.type).toBe("Command");
  });

  it("is one task, however often and to however many gateways it is delivered", async () => {
    const posts = [await open(), await open(), await open()];
    const headers = { "idempotency-key": "one" };

    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => posts[i % 3]?.(mergeRequestEvent(), i % 2 ? { headers } : {})),
    );

    expect(answers.map((answer) => answer?.body.status).sort()).toEqual([...Array(29).fill("duplicate"), "queued"]);
    expect(await tasks()).toHaveLength(1);
    expect(await figure("gateway_dedup_hits_total")).toBe(29);
  });

  it("is reported as known when it is delivered again, even if its task is deleted", async () => {
    const post = await open();
    const headers = { "x-gitlab-event-uuid": "0d4f4d5e-1a2b" };
    await post(noteEvent(), { headers });
    const [task] = await tasks();
    await cluster.delete(codingTasks, { namespace: "kubernaut-system", name: task?.metadata.name ?? "" });

    const again = await post(noteEvent(), { headers });

    expect(again).toMatchObject({ status: 200, body: { status: "duplicate", task: task?.metadata.name } });
    expect(await tasks()).toEqual([]);
    expect(await allFigures()).toMatch(/gateway_dedup_hits_total\{kind="delivery"\} 1/);
  });

  it("is distinguished from another with the same id: GitLab uses one id for a chain of events", async () => {
    const post = await open();
    const headers = { "x-gitlab-event-uuid": "0d4f4d5e-1a2b" };

    await post(mergeRequestEvent(), { headers });
    const other = await post(noteEvent(), { headers });

    expect(other.status).toBe(201);
    expect(await tasks()).toHaveLength(2);
  });

  it.each([
    ["push", { object_kind: "push" }, "NotHandled"],
    ["a comment on an issue", noteEvent({ noteable_type: "Issue" }), "NotHandled"],
    ["a comment for another user", noteEvent({ note: "looks good" }), "NotForUs"],
    ["a list", [], "NotHandled"],
    ["a branch that cannot be one", mergeRequestEvent({ source_branch: "a b~" }), "Unreadable"],
    ["a branch that is too long", mergeRequestEvent({ source_branch: "x".repeat(300) }), "Unreadable"],
  ])("about %s is ignored with a reason", async (_what, event, reason) => {
    const post = await open();

    const answer = await post(event);

    expect(answer).toMatchObject({ status: 200, body: { status: "ignored", reason } });
    expect(answer.body.message).toMatch(/^Ignored: .+\.$/);
    expect(await tasks()).toEqual([]);
    expect(await allFigures()).toContain(`gateway_webhook_ignored_total{reason="${reason}"} 1`);
  });

  it("is counted in a metric by its kind", async () => {
    const post = await open();

    await post(mergeRequestEvent());
    await post(noteEvent());
    await post({ object_kind: "pipeline" });

    const text = await allFigures();
    for (const kind of ["merge_request", "note", "other"]) {
      expect(text).toContain(`gateway_webhook_received_total{object_kind="${kind}"} 1`);
    }
  });

  it("may have the maximum size of GitLab, and no more", async () => {
    const post = await open();
    const large = noteEvent({ note: `/copilot ${"x".repeat(20_000_000)}` });

    expect((await post(large)).status).toBe(201);
    expect((await post(noteEvent({ note: "x".repeat(27_000_000) }))).status).toBe(413);
  });

  it("needs the secret token, which never appears in a response", async () => {
    const post = await open();

    const none = await post(mergeRequestEvent(), { token: undefined });
    const wrong = await post(mergeRequestEvent(), { token: `${secret}x` });

    expect([none.status, wrong.status]).toEqual([401, 401]);
    expect(JSON.stringify([none, wrong, log.events])).not.toContain(secret);
    expect(await tasks()).toEqual([]);
  });

  it("with a wrong secret token is logged once with the fix, and counted each time", async () => {
    const post = await open();

    for (const attempt of [1, 2, 3]) await post(mergeRequestEvent(), { token: `${secret}${attempt}` });

    const rejected = log.events.filter(({ event }) => event === "request rejected");
    const detail = expect.stringContaining("GITLAB_WEBHOOK_SECRET");
    const fields = { source: "gitlab", reason: "unknown-token", detail, remoteAddress: "127.0.0.1", unreported: 0 };
    expect(rejected).toEqual([{ level: "warn", event: "request rejected", fields: expect.objectContaining(fields) }]);
    expect(await metrics[0]?.text()).toContain('gateway_requests_turned_away_total{reason="unknown-token"} 3');
    expect(JSON.stringify(log.events)).not.toContain(secret);
  });

  it("is refused if no secret token is set, with the setting", async () => {
    const post = await open({ GITLAB_WEBHOOK_SECRET: "" });

    const answer = await post(mergeRequestEvent());

    expect(answer.status).toBe(403);
    expect(answer.body.detail).toContain("GITLAB_WEBHOOK_SECRET");
  });

  it("gitlab.webhookSecretFile: needs one of the secret tokens in a file, which is read again", async () => {
    const file = join(directory, "secrets");
    let skippedMs = 0;
    const later = { ...clock, now: () => clock.now() + skippedMs };
    const env = { GITLAB_WEBHOOK_SECRET: "", GITLAB_WEBHOOK_SECRET_FILE: file };
    const post = await open(env, { clock: later });
    const tried = async (...tokens: string[]) => {
      skippedMs += 5_000;
      return await Promise.all(tokens.map(async (token) => (await post({}, { token })).status));
    };

    expect(await tried("old-secret", "")).toEqual([403, 403]);
    await writeFile(file, "old-secret\n");
    expect(await tried("old-secret", "new-secret", "")).toEqual([200, 401, 401]);
    await writeFile(file, "old-secret\r\nnew-secret\n\n");
    expect(await tried("old-secret", "new-secret", "")).toEqual([200, 200, 401]);
    await rm(file);
    expect(await tried("old-secret", "new-secret")).toEqual([200, 200]);
    await writeFile(file, "new-secret\n");
    expect(await tried("old-secret", "new-secret")).toEqual([401, 200]);
    expect(JSON.stringify(log.events)).not.toMatch(/(old|new)-secret/);
  });

  it("is refused with a file of secret tokens but without gitlab.url", async () => {
    const file = join(directory, "secrets");
    await writeFile(file, secret);
    const post = await open({ GITLAB_URL: "", GITLAB_WEBHOOK_SECRET: "", GITLAB_WEBHOOK_SECRET_FILE: file });

    expect((await post(mergeRequestEvent())).status).toBe(403);
  });

  it("gets 503 with Retry-After while the API server is down, and may be sent again", async () => {
    let isDown = true;
    const create = (async (...call: Parameters<KubeClient["create"]>) => {
      if (isDown) throw new KubeError("unavailable", "secret address 10.0.0.1");
      return cluster.create(...call);
    }) as KubeClient["create"];
    const post = await open({}, { client: { ...cluster, create } });
    const headers = { "idempotency-key": "one" };

    const down = await post(mergeRequestEvent(), { headers });
    isDown = false;
    const up = await post(mergeRequestEvent(), { headers });

    expect(down.status).toBe(503);
    expect(Number(down.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(JSON.stringify(down.body)).not.toContain("10.0.0.1");
    expect(up.status).toBe(201);
  });

  it("is in the ledger before the response, at the latest when it is repeated", async () => {
    let isFull = true;
    const append: Ledger["append"] = async (event) => {
      if (isFull) throw new LedgerError("full", "no space");
      await ledger.append(event);
    };
    const post = await open({}, { ledger: { ...ledger, append } });
    const headers = { "idempotency-key": "one" };

    const full = await post(mergeRequestEvent(), { headers });
    isFull = false;
    const again = await post(mergeRequestEvent(), { headers });

    const [task] = await tasks();
    expect([full.status, again.status]).toEqual([503, 200]);
    expect(ledger.events().map(({ id }) => id)).toEqual([`${task?.metadata.uid}/task.received`]);
  });

  it.each([
    ["draft", mergeRequestEvent({ draft: true }), {}, { reason: "Draft", message: /it is a draft/ }],
    [
      "label missing",
      mergeRequestEvent(),
      { GITLAB_REQUIRED_LABELS: "review me" },
      { reason: "LabelMissing", message: /label missing: .* \(review me\)/ },
    ],
    ["for others", noteEvent({ note: "looks good" }), {}, { reason: "NotForUs", message: /neither/, note: true }],
    ["edited", noteEvent({ action: "update" }), {}, { reason: "EditedNote", message: /edited/, note: true }],
  ])("that is ignored leaves a row in the ledger before the response: %s", async (_why, event, env, expected) => {
    const post = await open(env);

    const { body } = await post(event);

    expect(body).toMatchObject({ status: "ignored", reason: expected.reason });
    const [row, ...others] = ledger.events();
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      type: "task.ignored",
      facts: {
        ...{ reason: expected.reason, message: expect.stringMatching(expected.message), source: "webhook", by: "ada" },
        target_resource: "gitlab.example.com/group/app!7",
        ...("note" in expected && { object: "note", note: expect.any(Number) }),
      },
    });
  });

  it("that is ignored must be sent again if the ledger could not store its row", async () => {
    const append: Ledger["append"] = async () => {
      throw new LedgerError("full", "no space");
    };
    const post = await open({}, { ledger: { ...ledger, append } });

    expect((await post(mergeRequestEvent({ draft: true }))).status).toBe(503);
  });

  it("is in the OpenAPI document", async () => {
    await open();

    const document = (await (await fetch(`${running[0]?.url}/openapi.json`)).json()) as { paths: object };

    expect(Object.keys(document.paths)).toEqual(expect.arrayContaining([path, "/webhook"]));
  });

  describe("obeys the setting", () => {
    it("gitlab.url: its host is used in keys, whatever host GitLab reports", async () => {
      await (await open({ GITLAB_URL: "http://gitlab.internal:8929" }))(mergeRequestEvent());

      expect((await tasks())[0]?.spec.project.host).toBe("gitlab.internal:8929");
    });

    it.each([
      ["10.0.0.0/8", 403],
      ["10.0.0.0/8, 127.0.0.0/8", 201],
    ])("gitlab.webhookNetworks: %s", async (networks, status) => {
      const post = await open({ GITLAB_WEBHOOK_NETWORKS: networks });

      expect((await post(mergeRequestEvent())).status).toBe(status);
    });

    it.each([
      ["GITLAB_PROJECTS", "group/other", "ProjectNotAllowed", mergeRequestEvent()],
      ["GITLAB_REQUIRED_LABELS", "wip", undefined, mergeRequestEvent({ labels: [{ title: "WIP" }] })],
      ["GITLAB_REQUIRED_LABELS", "ready", "LabelMissing", mergeRequestEvent({ labels: [{ title: "WIP" }] })],
      ["GITLAB_SKIP_LABELS", "wip", "Label", mergeRequestEvent({ labels: [{ title: "WIP" }] })],
      ["GITLAB_REVIEW_DRAFTS", "false", "Draft", mergeRequestEvent({ draft: true })],
      ["GITLAB_REVIEW_DRAFTS", "true", undefined, mergeRequestEvent({ draft: true })],
      ["AGENT_GITLAB_USERNAME", "ada", "OwnNote", noteEvent()],
      ["AGENT_GITLAB_USERNAME", "bot", undefined, noteEvent({ note: "well, @bot, fix it" })],
    ])("%s=%s", async (name, value, reason, event) => {
      const post = await open({ [name]: value });

      expect((await post(event)).body.reason).toBe(reason);
      expect(await tasks()).toHaveLength(reason ? 0 : 1);
    });

    it("agent.namespace: the namespace of tasks", async () => {
      const post = await open({}, { yaml: "agent:\n  namespace: elsewhere\n", client: cluster });

      expect((await post(mergeRequestEvent())).body.namespace).toBe("elsewhere");
      expect((await tasks())[0]?.metadata.namespace).toBe("elsewhere");
    });

    it("claims.reviewDoneTtl: the time for which a delivery is recognised", async () => {
      const post = await open({}, { yaml: "claims:\n  reviewDoneTtl: 1s\n" });
      const headers = { "idempotency-key": "one" };
      await post(mergeRequestEvent(), { headers });
      const [task] = await tasks();
      await cluster.delete(codingTasks, { namespace: "kubernaut-system", name: task?.metadata.name ?? "" });

      await expect.poll(async () => (await post(mergeRequestEvent(), { headers })).status).toBe(201);
    });
  });

  interface OpenOptions {
    readonly client?: KubeClient;
    readonly clock?: Clock;
    readonly ledger?: Ledger;
    readonly yaml?: string;
  }

  /** Starts a gateway with these settings; returns a function that posts to it. */
  async function open(env: Readonly<Record<string, string>> = {}, { yaml = "", ...options }: OpenOptions = {}) {
    const loaded = loadConfig({
      yaml: { path: "interlock.yaml", text: yaml },
      env: { GATEWAY_LISTEN: "127.0.0.1:0", GATEWAY_TOKENS: "test sixteen-letters-or-more", ...usual, ...env },
    });
    if (loaded.kind !== "loaded") throw new Error(loaded.problems.join("\n"));
    const own = join(directory, String(running.length));
    const figures = promMetrics();
    metrics.push(figures);
    const gateway = await openGateway({
      loaded,
      client: permittedClient(cluster, "gateway"),
      ledger,
      directory: own,
      clock,
      random,
      log,
      metrics: figures,
      ...options,
    });
    running.push(gateway);

    return async function post(
      body: unknown,
      call: { headers?: Readonly<Record<string, string>>; path?: string; token?: string | undefined } = {},
    ) {
      const token = "token" in call ? call.token : secret;
      const response = await fetch(`${gateway.url}${call.path ?? path}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { "x-gitlab-token": token }),
          ...call.headers,
        },
        body: JSON.stringify(body),
      });
      return { status: response.status, headers: response.headers, body: JSON.parse((await response.text()) || "{}") };
    };
  }

  async function tasks(): Promise<readonly CodingTask[]> {
    return (await cluster.list(codingTasks)).items;
  }

  /** Of all gateways. */
  async function allFigures(): Promise<string> {
    return (await Promise.all(metrics.map((one) => one.text()))).join("\n");
  }

  async function figure(name: string): Promise<number> {
    const lines = (await allFigures()).split("\n").filter((line) => line.startsWith(`${name}{`));
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  }
});

const envelope = {
  user: { id: 3, username: "ada" },
  project: { id: 5, path_with_namespace: "group/app", web_url: "https://gitlab.example.com/group/app" },
};
const mergeRequest = {
  iid: 7,
  state: "opened",
  draft: false,
  labels: [],
  source_branch: "topic",
  target_branch: "main",
  source_project_id: 5,
  last_commit: { id: sha },
};

function mergeRequestEvent(attributes: object = {}) {
  return {
    object_kind: "merge_request",
    ...envelope,
    object_attributes: { ...mergeRequest, action: "open", ...attributes },
  };
}

function noteEvent(attributes: object = {}) {
  const note = { id: 1244, note: "/copilot fix it", noteable_type: "MergeRequest", author_id: 3, action: "create" };
  return {
    object_kind: "note",
    ...envelope,
    object_attributes: { ...note, ...attributes },
    merge_request: mergeRequest,
  };
}
