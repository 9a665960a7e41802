import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LineFilter, Pod, StepLine } from "../../src/engines/index.ts";
import { followPods } from "../../src/engines/output/follow-pods.ts";
import { httpClient, type KubeClient, type PodLogs, type ResourceType } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { PodLogServer } from "../doubles/pod-log-server.ts";
import { type TestCluster, testCluster } from "../doubles/test-cluster.ts";
import { until } from "../executor/processes/until.ts";

const pods: ResourceType<Pod> = { apiVersion: "v1", kind: "Pod", plural: "pods", namespaced: true };
const [clock, random] = [systemClock(), systemRandom()];

let server: PodLogServer;
let cluster: TestCluster;
let client: KubeClient;
let podLogs: PodLogs;
let printed: string[];
let problems: string[];
let runEnded: AbortController;
let stop: AbortController;

beforeEach(async () => {
  server = new PodLogServer();
  podLogs = httpClient({ connection: { url: await server.start() }, clock, random }).podLogs;
  cluster = testCluster({ clock, random, namespaces: ["runs"] });
  client = cluster.client();
  [printed, problems, runEnded, stop] = [[], [], new AbortController(), new AbortController()];
});
afterEach(async () => {
  stop.abort();
  await server.stop();
});

describe("the output of a run's pods", { timeout: 30_000 }, () => {
  it("is printed while it is written, by task and step, also of pods that begin later", async () => {
    await addPod("one", { task: "look", containers: { "step-measure": "running", sidecar: "waiting" } });
    write("one", "step-measure", "1", "used: 91 %");
    const following = follow();
    await until("the first line", () => printed.length === 1);
    write("one", "step-measure", "2", "");

    await addPod("two", { task: "clean-up", containers: { "step-remove": "running" } });
    write("two", "step-remove", "3", "freed 3 GB");
    await until("the line of the second pod", () => printed.length === 3);
    await end("one", "step-measure");
    await end("two", "step-remove");
    runEnded.abort();
    await following;

    expect(printed).toEqual(["look/measure used: 91 %", "look/measure ", "clean-up/remove freed 3 GB"]);
    expect(problems).toEqual([]);
  });

  it("is neither repeated nor lost when connections break, also of lines with the same time", async () => {
    await addPod("one", { task: "look", containers: { "step-measure": "running" } });
    write("one", "step-measure", "0", "begin");
    const following = follow();
    const expected = ["look/measure begin"];
    for (let i = 0; i < 20; i++) {
      await until("the log is followed", () => server.followers === 1);
      // Three lines in each moment, and several moments in each second.
      for (let j = 0; j < 3; j++) {
        write("one", "step-measure", `0${Math.floor(i / 4)}.${i % 4}`, `line ${i} ${j}`);
        expected.push(`look/measure line ${i} ${j}`);
      }
      if (i % 2 === 0) await until("the lines", () => printed.length === expected.length);
      server.cut();
      await until("the connection is gone", () => server.followers === 0);
    }
    await end("one", "step-measure");
    runEnded.abort();
    await following;

    expect(printed).toEqual(expected);
    expect(server.queries.filter((query) => query.has("sinceTime")).length).toBeGreaterThan(5);
  });

  it("counts the attempts of a task, and is limited to the wanted task, step and last lines", async () => {
    await addPod("one", { task: "look", containers: { "step-a": "ended", "step-b": "ended" } });
    await addPod("two", { task: "look", containers: { "step-a": "ended" } });
    await addPod("three", { task: "other", containers: { "step-a": "ended" } });
    for (const pod of ["one", "two", "three"]) {
      for (const second of ["1", "2"]) write(pod, "step-a", second, `${pod} ${second}`);
      server.end(pod, "step-a");
    }
    write("one", "step-b", "1", "b");
    runEnded.abort();

    await follow({ task: "look", step: "a", tail: 1 });

    expect(printed.sort()).toEqual(["look/a one 2", "look/a#2 two 2"]);
  });

  it("of a Job has the name of its container as the step", async () => {
    const labels = { "batch.kubernetes.io/controller-uid": "run-uid" };
    await addPod("one", { labels, containers: { workflow: "ended" } });
    write("one", "workflow", "1", "done");
    runEnded.abort();

    await follow({}, "Job");

    expect(printed).toEqual(["job/workflow done"]);
  });

  it("ends with the error of a line that cannot be printed", async () => {
    await addPod("one", { task: "look", containers: { "step-a": "running" } });
    write("one", "step-a", "1", "line");
    const failingPrint = () => {
      throw new Error("the reader has gone away");
    };

    await expect(follow({}, "PipelineRun", failingPrint)).rejects.toThrow("the reader has gone away");
  });

  it("that is forbidden is an error that names the missing permission, during the run", async () => {
    server.isForbidden = true;
    await addPod("one", { task: "look", containers: { "step-a": "running" } });

    await expect(follow()).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining('cannot get resource "pods/log" in API group ""'),
    });
  });

  it("of pods that must not be listed is an error that names the missing permission, during the run", async () => {
    cluster.forbid("list", "pods");

    await expect(follow()).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining('cannot list resource "pods" in API group ""'),
    });
  });
});

function print({ task, attempt, step, text }: StepLine): void {
  printed.push(`${task}/${step}${attempt > 1 ? `#${attempt}` : ""} ${text}`);
}

async function follow(filter: LineFilter = {}, kind = "PipelineRun", printLine = print): Promise<void> {
  await followPods({
    ...{ client, podLogs, filter, clock, random, print: printLine },
    run: { kind, uid: "run-uid", namespace: "runs" },
    signal: stop.signal,
    runEnded: runEnded.signal,
    problem: (message) => void problems.push(message),
  });
}

type State = "waiting" | "running" | "ended";

interface PodDraft {
  readonly task?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly containers: Readonly<Record<string, State>>;
}

async function addPod(name: string, { task = "", labels, containers }: PodDraft): Promise<void> {
  const usual = { "tekton.dev/pipelineRunUID": "run-uid", "tekton.dev/pipelineTask": task };
  const metadata = { name, namespace: "runs", labels: labels ?? usual };
  const created = await client.create(pods, { apiVersion: "v1", kind: "Pod", metadata });
  if (created.kind !== "created") throw new Error(`pod ${name} exists`);
  await client.update(pods, { ...created.object, status: statusOf(containers) }, { subresource: "status" });
}

async function end(pod: string, container: string): Promise<void> {
  server.end(pod, container);
  const found = await client.get(pods, { namespace: "runs", name: pod });
  if (!found) throw new Error(`no pod ${pod}`);
  await client.update(pods, { ...found, status: statusOf({ [container]: "ended" }) }, { subresource: "status" });
}

function statusOf(containers: PodDraft["containers"]): NonNullable<Pod["status"]> {
  const states = {
    waiting: { waiting: { reason: "PodInitializing" } },
    running: { running: {} },
    ended: { terminated: { exitCode: 0, containerID: "c" } },
  };
  return {
    phase: "Running",
    containerStatuses: Object.entries(containers).map(([name, state]) => ({ name, state: states[state] })),
  };
}

/** At a second of one minute, such as `7` or `07.25`. */
function write(pod: string, container: string, second: string, text: string): void {
  server.write(pod, container, { at: `2026-03-01T12:00:${second.padStart(2, "0")}`, text });
}
