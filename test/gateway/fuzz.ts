import { Agent, request } from "node:http";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { KubeObject } from "../../src/kube/index.ts";
import { codingTasks, remediationRequests } from "../../src/resources/index.ts";
import { Dice } from "../chaos/dice.ts";
import { namespace } from "./gateway-world.ts";
import { mutated } from "./mutate.ts";
import { type ServedGateway, servedGateway, token } from "./served-gateway.ts";

const at = "2026-11-15T06:00:00Z";
const alert = {
  status: "firing",
  labels: { alertname: "KubePodCrashLooping", severity: "critical", namespace: "payment", pod: "api-7d-1" },
  annotations: { summary: "it crashes", runbook_url: "https://example.com/x" },
  startsAt: at,
  endsAt: "0001-01-01T00:00:00Z",
  generatorURL: "http://prometheus/graph",
  fingerprint: "5c1f2a3b4d5e6f70",
};

/** For each reader, payloads as they should be. */
const payloads: Readonly<Record<string, readonly unknown[]>> = {
  "/api/v1/signals/alertmanager": [
    { version: "4", groupKey: "{}", truncatedAlerts: 0, status: "firing", receiver: "r", alerts: [alert] },
    {
      version: "4",
      status: "resolved",
      truncatedAlerts: 2,
      alerts: [
        { ...alert, status: "resolved", endsAt: at },
        { ...alert, labels: { alertname: "Full", node: "worker-1", exported_namespace: "payment" } },
      ],
    },
  ],
  "/api/v1/signals": [
    { name: "DiskFull", target: "node/worker-1" },
    {
      name: "Expired",
      target: { kind: "Deployment", apiVersion: "apps/v1", namespace: "payment", name: "api" },
      status: "resolved",
      severity: "high",
      source: "watchman",
      labels: { a: "b" },
      annotations: { c: "d" },
      firingTime: at,
      endTime: at,
    },
    {
      signals: [
        { name: "a", target: "payment/pod/x" },
        { name: "b", target: "payment/statefulset/y" },
      ],
    },
  ],
  "/api/v1/signals/kubernetes-event": [
    {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: "x.1", namespace: "payment", uid: "u", creationTimestamp: at },
      type: "Warning",
      reason: "BackOff",
      message: "Back-off restarting failed container",
      involvedObject: { apiVersion: "v1", kind: "Pod", namespace: "payment", name: "api-7d-1", uid: "p" },
      firstTimestamp: at,
      lastTimestamp: at,
      eventTime: null,
      series: null,
    },
  ],
};

const webhookPath = "/api/v1/webhooks/gitlab";
const webhook = {
  user: { id: 3, username: "ada" },
  project: { id: 5, path_with_namespace: "group/app", web_url: "https://gitlab.example.com/group/app" },
};
const mergeRequest = {
  ...{ iid: 7, state: "opened", draft: false, source_branch: "topic", target_branch: "main", source_project_id: 5 },
  labels: [{ id: 1, title: "bug" }],
  last_commit: { id: "da1560886d4f094c3e6c9ef40349f7d38b5d27d7" },
};
const opened = { object_kind: "merge_request", ...webhook, object_attributes: { ...mergeRequest, action: "open" } };

/** GitLab webhooks: with and without a task. */
const webhooks: readonly unknown[] = [
  opened,
  {
    ...opened,
    object_attributes: { ...mergeRequest, action: "update", oldrev: "1".repeat(40) },
    changes: { draft: { previous: true, current: false }, labels: { previous: [], current: [] } },
  },
  {
    object_kind: "note",
    ...webhook,
    object_attributes: {
      ...{ id: 1244, note: "/copilot fix it, @copilot", noteable_type: "MergeRequest", author_id: 3, action: "create" },
      ...{ discussion_id: "6a9c1750b37d513a43987b574953fceb50b03ce7", system: false },
    },
    merge_request: mergeRequest,
  },
  { object_kind: "push", ...webhook, ref: "refs/heads/main" },
];

export interface FuzzReport {
  readonly posts: number;
  readonly statuses: Readonly<Record<number, number>>;
  /** The payloads whose response was a 5xx or not JSON. */
  readonly bad: readonly string[];
  /** Between a third of the way and the end, with all incidents removed. */
  readonly heapGrowthMb: number;
}

/** Posts so many payloads to each reader, every one of them changed by chance. */
export async function fuzz(perReader: number, seed: number): Promise<FuzzReport> {
  const dice = new Dice(seed);
  const readers = Object.entries({ ...payloads, [webhookPath]: webhooks });
  const served = await servedGateway({ ledger: { append: async () => {}, close: async () => {} } });
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const statuses: Record<number, number> = {};
  const bad: string[] = [];
  const chunk = 500;
  let heapAtStart = 0;
  try {
    for (let done = 0; done < perReader; done += chunk) {
      for (const [path, samples] of readers) {
        const bodies = Array.from({ length: Math.min(chunk, perReader - done) }, () =>
          mutated(dice.pick(samples), dice),
        );
        await Promise.all(
          bodies.map(async (body) => {
            const { status, isJson } = await post(served, { path, body, agent });
            statuses[status] = (statuses[status] ?? 0) + 1;
            if (status >= 500 || status === 0 || !isJson) bad.push(`${status} ${path} ${body.slice(0, 300)}`);
          }),
        );
        await removeAll(served);
      }
      served.log.forget();
      if (heapAtStart === 0 && done + chunk >= perReader / 3) heapAtStart = heapMb();
    }
    const heapGrowthMb = heapMb() - heapAtStart;
    const last = await post(served, { path: "/api/v1/signals", body: '{"name":"Alive","target":"node/a"}', agent });
    if (last.status !== 201) bad.push(`${last.status}: the gateway no longer accepts valid signals`);
    const asked = await post(served, { path: webhookPath, body: JSON.stringify(opened), agent });
    if (asked.status !== 201) bad.push(`${asked.status}: the gateway no longer takes webhooks that are right`);
    return { posts: perReader * readers.length, statuses, bad, heapGrowthMb };
  } finally {
    agent.destroy();
    await served.close();
  }
}

interface Post {
  readonly path: string;
  readonly body: string;
  readonly agent: Agent;
}

function post({ url }: ServedGateway, { path, body, agent }: Post): Promise<{ status: number; isJson: boolean }> {
  return new Promise((resolve) => {
    const who = { authorization: `Bearer ${token}`, "x-gitlab-token": token };
    const headers = { ...who, "content-type": "application/json" };
    const sent = request(`${url}${path}`, { method: "POST", agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, isJson: isJson(text) }));
    });
    sent.on("error", () => resolve({ status: 0, isJson: false }));
    sent.end(body);
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

async function removeAll({ client }: ServedGateway) {
  for (const kind of [remediationRequests, codingTasks]) {
    const { items } = await client.list<KubeObject>(kind, { namespace });
    for (const { metadata } of items) await client.delete(kind, { namespace, name: metadata.name ?? "" });
  }
}

function heapMb(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
