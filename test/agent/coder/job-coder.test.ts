import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configMaps } from "../../../src/agent/coder/job/messages.ts";
import { type CoderOrder, type CoderRequest, jobCoder } from "../../../src/agent/index.ts";
import { type EmbeddedApi, startEmbeddedApi } from "../../../src/app/index.ts";
import { CoordinationError } from "../../../src/coordination/index.ts";
import { jobs } from "../../../src/engines/job/job.ts";
import { type KubeClient, KubeError, namespaces } from "../../../src/kube/index.ts";
import { usualManifests } from "../../../src/manifests/index.ts";
import { silentLogger } from "../../../src/telemetry/index.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import type { Ending } from "../../doubles/behaviour.ts";
import { type GitLabDouble, startGitLab } from "../../doubles/gitlab/start-gitlab.ts";
import { jobController } from "../../doubles/job-controller.ts";
import { permittedClient } from "../../doubles/permitted-client.ts";
import { podRunner } from "../../doubles/pod-runner.ts";
import type { RunningDouble } from "../../doubles/run-controller.ts";
import { interlockProgram } from "../../services/program.ts";

const namespace = usualManifests.places.agents;
const modelKey = "the-key-of-a-model-0815";
const [clock, random] = [systemClock(), systemRandom()];

let gitlab: GitLabDouble;
let api: EmbeddedApi;
let root: string;
let double: RunningDouble;
let problems: string[];
let pods: number;
/** The status that the node reports. */
let changed: (ending: Ending) => Ending;
let order: (request?: object) => CoderOrder;
let secrets: Record<string, Record<string, string>>;
let interlock: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "job-coder-"));
  chmodSync(root, 0o755);
  mkdirSync(join(root, "pods"));
  interlock = await interlockProgram();
  gitlab = await startGitLab();
  api = await startEmbeddedApi({
    directory: join(root, "api"),
    listen: { host: "127.0.0.1", port: 0 },
    ...{ clock, random, log: silentLogger },
  });
  const { apiVersion, kind } = namespaces;
  await api.client.create(namespaces, { apiVersion, kind, metadata: { name: namespace } });
  const bot = gitlab.addUser("bot");
  secrets = { "gitlab-token": { token: bot.token }, "model-key": { MODEL_KEY: modelKey } };
  const project = await gitlab.addProject({ path: "shop/cart", files: { README: "hello\n" } });
  const sha = await gitlab.pushAs(gitlab.root, project, "topic", { "src/a.txt": "one\n" });
  let tasks = 0;
  order = (request = {}) => ({
    taskUid: `task-${++tasks}`,
    request: {
      ...{ version: 1, kind: "edit", project: { path: "shop/cart", url: gitlab.url }, instruction: "do" },
      ...request,
    } as CoderRequest,
    repository: { projectId: project.id, cloneUrl: project.cloneUrl },
    ...{ sha, ref: "refs/heads/topic" },
  });
});
afterAll(async () => {
  await api.close();
  await gitlab.close();
  rmSync(root, { recursive: true, force: true });
});

beforeEach(() => {
  problems = [];
  pods = 0;
  const problem = (message: string) => problems.push(message);
  const run = podRunner({
    client: api.client,
    entrypoints: { interlock: [process.execPath, interlock] },
    env: { OBJECTS_SERVER: "kubeconfig", INTERLOCK_KUBECONFIG: api.kubeconfigFile },
    secrets,
    directory: join(root, "pods"),
    ...{ clock, problem },
  });
  changed = (ending) => ending;
  const runPod: typeof run = async (job, signal) => {
    pods++;
    return changed(await run(job, signal));
  };
  double = jobController({ client: api.client, clock, random, namespace, problem, images: {}, runPod });
});
afterEach(() => double.stop());

// Every pod is three processes that have to start.
describe("a coder in a Job", { timeout: 90_000 }, () => {
  it("edits files that were fetched for it, and its change is checked again", async () => {
    const outcome = await edit(
      'cat > asked && grep -q \'"instruction":"do"\' asked && rm asked; echo two >> src/a.txt; echo "a line more"',
    );

    expect(problems).toEqual([]);
    expect(outcome).toMatchObject({ kind: "edited", summary: "a line more", change: { kind: "patch" } });
    expect(patchText(outcome)).toContain("+two");
    expect(readdirSync(join(root, "pods"))).toEqual([]);
  });

  it("reviews", async () => {
    const script = `echo '[{"path": "src/a.txt", "line": 1, "severity": "error", "message": "wrong"}]'`;
    const outcome = await coder(script).run(order({ kind: "review" }), new AbortController().signal);

    expect(outcome).toMatchObject({ kind: "reviewed", findings: [{ path: "src/a.txt", message: "wrong" }] });
  });

  it("finds no token: neither GitLab's nor the cluster's", async () => {
    const outcome = await edit(
      // The folder of this test is not a secret, whatever its name is.
      "find /run/interlock /var/run/secrets 2>/dev/null; env | grep -v 'PATH=\\|PWD='; cat .git/config; grep -rl glpat /run/interlock; true",
    );

    const summary = outcome.kind === "edited" ? outcome.summary : JSON.stringify(outcome);
    expect(summary).toContain("/run/interlock/request/request.json");
    expect(summary).not.toMatch(/GITLAB|token|serviceaccount|\/work\/(cache|home)|checkout\.json/);
    expect(summary).not.toContain(secrets["gitlab-token"]?.["token"]);
  });

  it("has the values of its Secret redacted from its output, and a change with one refused", async () => {
    const redacted = await edit('echo "key: $MODEL_KEY, reversed: $(echo $MODEL_KEY | rev)"');
    const failed = await edit('echo "bad key $MODEL_KEY" >&2; exit 3');
    const pushed = await edit('echo "$MODEL_KEY" > src/key.txt; echo done');

    expect(redacted).toMatchObject({ kind: "edited", summary: "key: [redacted], reversed: [redacted]" });
    expect(failed).toMatchObject({ message: "The coder exited with code 3: bad key [redacted]" });
    expect(pushed).toMatchObject({
      kind: "edited",
      change: { kind: "refused", reason: "Secret", message: expect.stringContaining("src/key.txt") },
    });
  });

  it("leaves no value of its Secret in the objects of its Job", async () => {
    await edit('echo "$MODEL_KEY"; echo "$MODEL_KEY" > src/key.txt');

    const { items } = await api.client.list(configMaps, { namespace });
    expect(items.length).toBeGreaterThan(0);
    const unpacked = items.flatMap(({ data = {}, binaryData = {} }) => [
      ...Object.values(data),
      ...Object.values(binaryData).map((packed) => gunzipSync(Buffer.from(packed, "base64")).toString()),
    ]);
    expect(unpacked.filter((text) => text.includes(modelKey))).toEqual([]);
  });

  it.each([
    ["edits .gitlab-ci.yml", "echo x: > .gitlab-ci.yml", "ProtectedPath"],
    ["creates a patch of 20 MB", "head -c 20000000 /dev/urandom > large", "TooLarge"],
  ])("that %s has its change refused", async (_what, script, reason) => {
    expect(await edit(script)).toMatchObject({ kind: "edited", change: { kind: "refused", reason } });
  });

  it("that exits with an error fails, is removed, and runs again on request", async () => {
    const wanted = order();
    const first = await coder("echo no key >&2; exit 3").run(wanted, new AbortController().signal);
    const second = await coder("echo fine").run(wanted, new AbortController().signal);

    expect(first).toMatchObject({
      kind: "failed",
      reason: "ExitCode",
      message: "The coder exited with code 3: no key",
    });
    expect(second).toMatchObject({ kind: "edited", summary: "fine" });
    expect(pods).toBe(2);
  });

  it("that fails is reported while a lost node delays the deletion of its Job", async () => {
    const wanted = order();
    const running = coder("exit 3").run(wanted, new AbortController().signal);
    await expect.poll(() => pods).toBe(1);
    const { items } = await api.client.list(jobs, { namespace });
    const job = items.find(({ metadata }) => metadata.annotations?.["kubernaut.ai/coding-task-uid"] === wanted.taskUid);
    const ref = { namespace, name: job?.metadata.name ?? "" };
    const hold = (finalizers: readonly string[]) =>
      api.client.patch(jobs, ref, { merge: { metadata: { finalizers } } });
    await hold(["example.com/lost-node"]);

    expect(await running).toMatchObject({ kind: "failed", reason: "ExitCode" });
    expect((await api.client.get(jobs, ref))?.metadata.deletionTimestamp).toBeDefined();
    await hold([]);
  });

  it.each([
    ["exceeds its time limit", "sleep 1007", 1_000, "Timeout", /did not finish within 1 s/],
    ["is killed by another process", "kill -9 $$", 600_000, "Killed", /killed by a SIGKILL after \d+ s/],
  ])("that %s reports the reason", async (_what, script, timeoutMs, reason, message) => {
    const outcome = await coder(script, { timeoutMs }).run(order(), new AbortController().signal);

    expect(outcome).toMatchObject({ kind: "failed", reason, message: expect.stringMatching(message), retry: true });
  });

  it("that exceeds its memory limit reports the reason", async () => {
    changed = ({ initContainerStatuses = [], ...ending }) => ({
      ...ending,
      initContainerStatuses: initContainerStatuses.map(({ name, state }) => {
        const { terminated = { exitCode: 0 } } = state ?? {};
        return { name, state: { terminated: { ...terminated, ...(name === "coder" && { reason: "OOMKilled" }) } } };
      }),
    });

    expect(await edit("kill -9 $$")).toMatchObject({
      kind: "failed",
      reason: "OOMKilled",
      message:
        "The coder used more memory than agent.jobMemory, 1Gi, and was killed: raise the limit, or ask for less at once.",
    });
  });

  it.each([
    ["its work tree", "."],
    ["its HOME", '"$HOME"'],
  ])("that creates more files than agent.maxDiskFiles in %s has no result", async (_where, folder) => {
    const outcome = await edit(`cd ${folder} && touch $(seq 51)`);

    expect(outcome).toMatchObject({ kind: "failed", reason: "WorkTreeTooLarge", retry: false });
    expect(outcome).toMatchObject({ message: "The coder created more than 50 files, see agent.maxDiskFiles." });
  });

  it("that succeeded is not run again: its result is read again", async () => {
    const wanted = order();
    const first = await coder("date +%N > now; echo done").run(wanted, new AbortController().signal);
    const second = await coder("date +%N > now; echo done").run(wanted, new AbortController().signal);

    expect(patchText(second)).toBe(patchText(first));
    expect(pods).toBe(1);
  });

  it("is adopted by the next caller with the same request", async () => {
    const wanted = order();
    const signal = new AbortController().signal;
    const both = await Promise.all([coder("echo done").run(wanted, signal), coder("echo done").run(wanted, signal)]);

    expect(both).toMatchObject([{ kind: "edited" }, { kind: "edited" }]);
    expect(pods).toBe(1);
  });

  it("has stopped, and is deleted, when the abort returns", async () => {
    const stop = new AbortController();
    const running = coder("sleep 1006").run(order(), stop.signal);
    while (pods === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    stop.abort(new Error("cancelled by a person"));

    await expect(running).rejects.toThrow("cancelled by a person");
    const { items } = await api.client.list(jobs, { namespace });
    expect(items.filter(({ status }) => status?.active)).toEqual([]);
    expect(readdirSync(join(root, "pods"))).toEqual([]);
  });

  it("continues for the next holder when its caller has lost the lock", async () => {
    const [wanted, lost] = [order(), new AbortController()];
    const script = `until [ -e ${join(root, "gate")} ]; do sleep 0.05; done; echo done`;
    const former = coder(script).run(wanted, lost.signal);
    while (pods === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    const next = coder(script).run(wanted, new AbortController().signal);
    lost.abort(new CoordinationError("lost", "the lease expired"));

    await expect(former).rejects.toThrow("the lease expired");
    writeFileSync(join(root, "gate"), "");

    expect(await next).toMatchObject({ kind: "edited" });
    expect(pods).toBe(1);
  });

  it("is awaited although the API server cuts a watch", async () => {
    let cuts = 0;
    const client = {
      ...api.client,
      watch: (...[type, query, call]: Parameters<KubeClient["watch"]>) => {
        if (type.plural === "jobs" && cuts++ === 0) throw new KubeError("unavailable", "the stream broke off");
        return api.client.watch(type, query, call);
      },
    } as KubeClient;

    const outcome = await coder("echo done", { client }).run(order(), new AbortController().signal);

    expect(outcome).toMatchObject({ kind: "edited" });
    expect(cuts).toBeGreaterThan(0);
  });

  it("whose output is a link has no result", async () => {
    const outcome = await edit("rm /run/interlock/output/stdout && ln -s /etc/passwd /run/interlock/output/stdout");

    expect(outcome).toMatchObject({ kind: "failed" });
    expect(JSON.stringify(outcome)).not.toContain("root:");
    expect(problems).toEqual([expect.stringMatching(/^collect ended with /)]);
  });
});

function coder(
  script: string,
  { timeoutMs = 60_000, client = api.client }: { timeoutMs?: number; client?: KubeClient } = {},
) {
  return jobCoder({
    client: permittedClient(client, "agent"),
    settings: {
      namespace,
      command: ["sh", "-c", script],
      network: "none",
      ...{ image: "agent", ownImage: "interlock", secret: "model-key", tokenSecret: "gitlab-token" },
      ...{ serviceAccount: "coder", gitlabUrl: gitlab.url, timeoutMs, maxDiskBytes: 100_000_000 },
      resources: { cpu: "1", memory: "1Gi" },
    },
    maxOutputBytes: 100_000,
    maxAddedFiles: 50,
    patch: { maxBytes: 1_000_000, maxFiles: 200, protectedPaths: [".gitlab-ci.yml"] },
    secrets: async () => [],
    clock,
  });
}

async function edit(script: string) {
  return await coder(script).run(order(), new AbortController().signal);
}

function patchText(outcome: Awaited<ReturnType<typeof edit>>): string {
  return outcome.kind === "edited" && outcome.change.kind === "patch"
    ? Buffer.from(outcome.change.patch.bytes).toString()
    : JSON.stringify(outcome);
}
