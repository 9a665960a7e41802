import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { configMaps } from "../../../src/agent/coder/job/messages.ts";
import { openCoder } from "../../../src/app/index.ts";
import { loadConfig } from "../../../src/config/index.ts";
import { jobs } from "../../../src/engines/job/job.ts";
import { systemClock, systemRandom } from "../../../src/time/index.ts";
import { type RecordingLogger, recordingLogger } from "../../doubles/recording-logger.ts";
import { testCluster } from "../../doubles/test-cluster.ts";
import { makeRepository } from "./repository.ts";

let root: string;
let log: RecordingLogger;
beforeEach(() => {
  log = recordingLogger();
  root = mkdtempSync(join(tmpdir(), "open-coder-"));
  chmodSync(root, 0o711);
  mkdirSync(join(root, "data"), { mode: 0o700 });
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

describe("the coder of the configuration", () => {
  it("gets only the variables of its settings", async () => {
    const env = { MODEL_KEY: "key-of-the-model", OTHER: "no", GITLAB_TOKEN: "token-of-gitlab" };
    const outcome = await run(`sh -c 'echo "$MODEL_KEY,$OTHER,$GITLAB_TOKEN."'`, "  passEnvironment: MODEL_KEY", env);

    expect(outcome).toMatchObject({ kind: "edited", summary: "[redacted],,." });
  });

  it("gets variables that are not secret, and its output of them is not redacted", async () => {
    const env = { MODEL_NAME: "model-of-the-year" };
    const outcome = await run(`sh -c 'echo "$MODEL_NAME"'`, "  publicEnvironment: MODEL_NAME", env);

    expect(outcome).toMatchObject({ kind: "edited", summary: "model-of-the-year" });
  });

  it.each([
    ["the value of a passed variable", `sh -c 'echo "key = $MODEL_KEY" > config'`, "a secret of Interlock"],
    ["that value in base64", `sh -c 'printf %s "x$MODEL_KEY" | base64 > config'`, "a secret of Interlock"],
    ["that value reversed", `sh -c 'printf %s "$MODEL_KEY" | rev > config'`, "a secret of Interlock"],
    ["that value in a binary file", `sh -c 'printf "\\000%s" "$MODEL_KEY" > config'`, "a secret of Interlock"],
    ["that value in the name of a file", `sh -c 'echo > "$MODEL_KEY"'`, "a secret of Interlock"],
    ["a key of a known format", `sh -c 'echo glpat""-abcdefghij0123456789 > config'`, "a GitLab token"],
  ])("has its change refused if it adds %s", async (_what, command, kind) => {
    const outcome = await run(command, "  passEnvironment: MODEL_KEY", { MODEL_KEY: "key-of-the-model" });

    expect(outcome).toMatchObject({ change: { kind: "refused", reason: "Secret" } });
    const message = outcome.kind === "edited" && outcome.change.kind === "refused" ? outcome.change.message : "";
    expect(message).toContain(`contains ${kind}`);
    expect(message).not.toContain("key-of-the-model");
  });

  it("may remove a key from a file", async () => {
    const parts = await makeRepository(join(root, "data"), { config: `a\nglpat${"-"}abcdefghij0123456789\nb\n` });
    const { coder, order, workshop } = await open("agent:\n  command: sed -i 2d config", {}, parts);
    await using _ = workshop;

    const outcome = await coder.run(order(), new AbortController().signal);

    expect(outcome).toMatchObject({ kind: "edited", change: { kind: "patch" } });
  });

  it("has no network by default", async () => {
    const command = `sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1 | xargs echo'`;

    expect(await run(command)).toMatchObject({ summary: "lo" });
    expect(log.events.map(({ event }) => event)).toContain("coder has no network");
    expect(await run(command, "  network: host")).toMatchObject({ summary: expect.not.stringMatching(/^lo$/) });
  });

  it("that fails without a network gets a hint", async () => {
    expect(await run("false")).toMatchObject({ message: expect.stringContaining("agent.network is none") });
  });

  it("has its output redacted of all secrets of the configuration", async () => {
    writeFileSync(join(root, "file"), "token-in-a-file\n");
    const outcome = await run(
      "echo token-of-gitlab pass-word-of-redis token-in-a-file",
      `gateway:\n  tokenFile: ${root}/file`,
      { GITLAB_TOKEN: "token-of-gitlab", REDIS_URL: "redis://user:pass-word-of-redis@127.0.0.1:6379" },
    );

    expect(outcome).toMatchObject({ summary: "[redacted] [redacted] [redacted]" });
  });

  it("has its output redacted of former and new secrets after a replacement", async () => {
    const [token, webhooks, senders] = [join(root, "token"), join(root, "webhooks"), join(root, "senders")];
    writeFileSync(token, "first-token\n");
    writeFileSync(webhooks, "first-webhook-secret\nsecond-webhook-secret\n");
    writeFileSync(senders, "# who may post\nprometheus token-of-prometheus\n");
    const env = { GITLAB_TOKEN_FILE: token, GITLAB_WEBHOOK_SECRET_FILE: webhooks, GATEWAY_TOKEN_FILE: senders };
    const words = "first-token second-token second-webhook-secret token-of-prometheus prometheus";
    const { coder, order, workshop } = await open(`agent:\n  command: echo ${words}`, env);
    await using _ = workshop;

    writeFileSync(token, "second-token\n");

    expect(await coder.run(order(), new AbortController().signal)).toMatchObject({
      summary: "[redacted] [redacted] [redacted] [redacted] prometheus",
    });
  });

  it.each([
    ["timeout: 1s", "sleep 100", { kind: "failed", reason: "Timeout" }],
    ["maxOutput: 1KB", "head -c 2000 /dev/zero", { kind: "failed", reason: "OutputTooLarge" }],
    [
      "maxDisk: 100KB",
      `sh -c 'for i in 1 2 3 4; do head -c 50000 /dev/zero > $i; done'`,
      { reason: "WorkTreeTooLarge" },
    ],
    ["maxDiskFiles: 3", "touch 1 2 3 4 5", { reason: "WorkTreeTooLarge" }],
    ["maxPatch: 1KB", "sh -c 'seq 1000 > many'", { change: { kind: "refused", reason: "TooLarge" } }],
    ["maxFiles: 2", "sh -c 'for i in 1 2 3; do echo $i > $i; done'", { change: { reason: "TooManyFiles" } }],
    ["protectedPaths: docs/", "sh -c 'mkdir docs; echo > docs/x'", { change: { reason: "ProtectedPath" } }],
    ["network: none", `sh -c 'tail -n +3 /proc/net/dev | cut -d: -f1 | xargs echo'`, { summary: "lo" }],
  ])("obeys agent.%s", async (setting, command, outcome) => {
    expect(await run(command, `  ${setting}`)).toMatchObject(outcome);
  });

  it("runs as this user if we are root", async () => {
    const outcome = await run("id -u", "  user: 4711:4711");

    expect(outcome).toMatchObject({ summary: String(process.getuid?.() === 0 ? 4711 : process.getuid?.()) });
  });

  it("has its folders in agent.workDir", async () => {
    const outcome = await run(`sh -c 'echo "$HOME"'`, `  workDir: ${root}/work`);

    expect(outcome).toMatchObject({ summary: expect.stringContaining(`${root}/work/run-`) });
  });

  it("has its folders in the data directory, which is otherwise hidden", async () => {
    writeFileSync(join(root, "data", "secret"), "no");
    const outcome = await run(`sh -c 'cd .. && pwd && touch "$HOME/x" && ls ${root}/data'`);

    expect(outcome).toMatchObject({ summary: expect.stringMatching(`^${root}/data/coder/run-\\w+\ncoder$`) });
  });

  it("has its folders below a directory that its user cannot enter", async () => {
    chmodSync(root, 0o700);
    const outcome = await run(`sh -c 'touch "$HOME/x" "$TMPDIR/y" && echo done > README && ls ${root}'`);

    expect(outcome).toMatchObject({ kind: "edited", summary: "data", change: { kind: "patch" } });
  });

  it.each<[string, () => void, string]>([
    ["a symbolic link", () => symlinkSync("/tmp", join(root, "work")), "is a symbolic link"],
    ["writable by others", () => writeTo(join(root, "work")), "can be changed by other users"],
    ...(process.getuid?.() === 0
      ? ([["another user's", () => giveAway(join(root, "work")), "belongs to user 4711"]] satisfies [
          [string, () => void, string],
        ])
      : []),
  ])("does not start with a work directory that is %s", async (_what, prepare, problem) => {
    prepare();

    await expect(run("true", `  workDir: ${root}/work`)).rejects.toThrow(`agent.workDir ${root}/work ${problem}`);
  });

  it("kills no unrelated process because of a prepared work directory", async () => {
    const unrelated = spawn("sleep", ["1000"], { stdio: ["pipe", "ignore", "ignore"] });
    const folder = join(root, "work", "run-prepared");
    mkdirSync(folder, { recursive: true });
    for (const name of ["owner", "lock"]) writeFileSync(join(folder, name), "");
    for (const name of ["collector", "started"]) writeFileSync(join(folder, name), `${unrelated.pid}\n`);
    const holder = spawn("flock", ["--no-fork", join(folder, "lock"), "sleep", "1000"], { stdio: "ignore" });
    await expect.poll(() => spawnSync("flock", ["-n", join(folder, "lock"), "true"]).status).toBe(1);
    chmodSync(join(root, "work"), 0o777);

    await expect(run("true", `  workDir: ${root}/work`)).rejects.toThrow("can be changed by other users");
    chmodSync(join(root, "work"), 0o755);
    await run("true", `  workDir: ${root}/work`);

    await expect.poll(() => holder.signalCode).toBe("SIGKILL");
    expect(unrelated.exitCode ?? unrelated.signalCode).toBeNull();
    unrelated.kill("SIGKILL");
  });

  it("does not start without isolation if agent.isolation is required", async () => {
    const parts = await repository();
    await using _ = parts.workshop;
    // The required programs are not installed there.
    vi.stubEnv("PATH", root);

    await expect(open("agent:\n  command: x\n  isolation: required", {}, parts)).rejects.toThrow("agent.isolation");
    await open(`agent:\n  command: x\n  isolation: best\n  workDir: ${root}/work`, {}, parts);
    expect(log.events.map(({ event }) => event)).toContain("coder isolation incomplete");
  });

  it("runs in Jobs according to the settings", async () => {
    const { coder, order, client, workshop } = await open(
      `agent:
  command: solve {workTree}
  executor: job
  jobImage: registry.example/solver:2
  jobOwnImage: registry.example/interlock:2
  jobSecret: model-key
  jobTokenSecret: gitlab-token
  jobServiceAccount: solver
  jobCpu: 500m
  jobMemory: 3Gi
  timeout: 90s
  maxDisk: 5MB
  maxDiskFiles: 77
  jobNamespace: default
`,
      { GITLAB_URL: "https://gitlab.example.com" },
    );
    await using _ = workshop;
    const running = coder.run(order(), new AbortController().signal);
    const list = async () => (await client.list(jobs, { namespace: "default" })).items;
    await expect.poll(list).toHaveLength(1);
    const [job] = await list();
    const readOrder = async () =>
      (await client.list(configMaps, { namespace: "default" })).items[0]?.data?.["order.json"];
    await expect.poll(readOrder).toContain('"maxAddedFiles":77');
    const status = { conditions: [{ type: "Failed", status: "True", reason: "Seen" }] };
    const ref = { namespace: "default", name: job?.metadata.name ?? "" };
    await client.patch(jobs, ref, { merge: { status } }, { subresource: "status" });
    expect(await running).toMatchObject({ kind: "failed" });

    expect(job?.spec.template).toMatchObject({ metadata: { labels: { "kubernaut.ai/coder-network": "none" } } });
    expect(log.events).toContainEqual(expect.objectContaining({ event: "coder isolation incomplete" }));
    const pod = job?.spec.template.spec as PodSpec | undefined;
    const [fetch, agent] = pod?.initContainers ?? [];
    const { containers = [], volumes } = pod ?? {};
    expect(pod?.serviceAccountName).toBe("solver");
    expect([fetch?.image, containers[0]?.image]).toEqual([
      "registry.example/interlock:2",
      "registry.example/interlock:2",
    ]);
    expect(agent).toMatchObject({
      image: "registry.example/solver:2",
      envFrom: [{ secretRef: { name: "model-key" } }],
      resources: { limits: { cpu: "500m", memory: "3Gi" } },
    });
    expect(agent?.command.slice(-4, -1)).toEqual(["KILL", "90", "solve"]);
    expect(volumes).toContainEqual(
      expect.objectContaining({ secret: expect.objectContaining({ secretName: "gitlab-token" }) }),
    );
    expect(volumes).toContainEqual({ name: "tree", emptyDir: { sizeLimit: "5000000" } });
  });

  it.each([
    ["in Jobs needs an image", "agent:\n  command: x\n  executor: job", "agent.jobImage"],
    ["needs a command", "", "agent.command is not set"],
  ])("%s", async (_what, yaml, problem) => {
    const parts = await repository();
    await using _ = parts.workshop;

    await expect(open(yaml, {}, parts)).rejects.toThrow(problem);
  });
});

async function run(command: string, settings = "", env = {}) {
  const { coder, order, workshop } = await open(`agent:\n  command: ${JSON.stringify(command)}\n${settings}`, env);
  await using _ = workshop;
  return await coder.run(order(), new AbortController().signal);
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly initContainers: readonly { readonly image: string; readonly command: readonly string[] }[];
  readonly containers: readonly { readonly image: string }[];
  readonly volumes: readonly object[];
}

function repository() {
  return makeRepository(join(root, "data"), { README: "hello\n" });
}

async function open(yaml: string, env = {}, parts?: Awaited<ReturnType<typeof repository>>) {
  const loaded = loadConfig({ yaml: { path: "interlock.yaml", text: yaml || "{}" }, env });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  const { workshop, order } = parts ?? (await repository());
  const directory = join(root, "data");
  const clock = systemClock();
  const client = testCluster({ clock, random: systemRandom() }).client();
  const coder = await openCoder({ config: loaded.config, client, workshop, env, directory, clock, log });
  return { coder, order, workshop, client };
}

function writeTo(path: string) {
  mkdirSync(path);
  chmodSync(path, 0o777);
}

function giveAway(path: string) {
  mkdirSync(path);
  chownSync(path, 4711, 4711);
}
