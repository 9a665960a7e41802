import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { localEngine, readLogs } from "../../../src/engines/index.ts";
import { systemProcesses } from "../../../src/engines/local/steps/system-processes.ts";
import { pipelineRuns } from "../../../src/engines/tekton/pipeline-run.ts";
import { customResourceDefinitions } from "../../../src/resources/index.ts";
import { runOrder } from "../run-order.ts";
import { LocalStage, pipeline, refOf, script } from "./local-stage.ts";

const hostile = [
  '"; touch pwned; "',
  "'; touch pwned; '",
  "$(touch pwned)",
  "`touch pwned`",
  "a\ntouch pwned",
  "--help",
  "-rf /",
  "$(params.other)",
  "a\\",
  "*",
  "| touch pwned &",
];

describe("a hostile value of a parameter", () => {
  it.each(hostile)("reaches arguments and environment as it is, and is never run: %j", async (value) => {
    await using stage = new LocalStage();
    stage.workflow(
      "w",
      pipeline(
        `
  params: [{name: value}]
  tasks:
    - name: only
      taskSpec:
        results: [{name: seen}]
        steps:
          - env: [{name: VALUE, value: "$(params.value)"}]
            script: |
              printf %s "$VALUE" > "$HOME/env"
          - command: [sh, -c, 'printf %s "$1" > "$HOME/arg"', x, "$(params.value)"]
          - script: |
              cmp "$HOME/env" "$HOME/arg"
              cp "$HOME/env" "$(results.seen.path)"
              ls -A "$HOME" | wc -l >> "$WITNESS"
    - name: next
      params: [{name: value, value: "$(tasks.only.results.seen)"}]
      taskSpec:
        params: [{name: value}]
        results: [{name: seen}]
        steps:
          - env: [{name: VALUE, value: "$(params.value)"}]
            script: printf %s "$VALUE" > "$(results.seen.path)"
  results: [{name: seen, value: "$(tasks.next.results.seen)"}]
`.replaceAll('"$(results.seen.path)"', "$(results.seen.path)"),
      ),
    );
    await stage.startRunner();

    const run = await stage.run("w", { parameters: { value } });

    expect(Reflect.get(run.status ?? {}, "results")).toEqual([{ name: "seen", value }]);
    expect(stage.witnessed().map(Number)).toEqual([2]);
    expect(readdirSync(stage.root).sort()).toEqual(["data", "witness", "workflows"]);
  });
});

describe("a step", () => {
  it("has a small environment, its own private directory, and no input", async () => {
    await using stage = new LocalStage();
    const text =
      'env | cut -d= -f1 | sort | tr "\\n" " " >> "$WITNESS"; echo >> "$WITNESS"; cat; pwd >> "$WITNESS"; stat -c %a . >> "$WITNESS"; echo "$HOME" >> "$WITNESS"; echo "$WORKFLOW_DIR $FENCE $EXECUTION_UID" >> "$WITNESS"';
    stage.workflow("w", script(text));
    await stage.startRunner();
    const run = await stage.run("w");

    const [names, directory = "", mode, home, given] = stage.witnessed();
    expect(names?.trim().split(" ")).toEqual(
      [
        "EXECUTION_UID",
        "FENCE",
        "HOME",
        "LANG",
        "PATH",
        "PWD",
        "TARGET_RESOURCE",
        "TMPDIR",
        "WITNESS",
        "WORKFLOW_DIR",
      ].sort(),
    );
    expect(mode).toBe("700");
    expect(home).toBe(directory);
    expect(given).toBe(`${join(stage.workflowsRoot, "w")} 4711 6d4c1f1e-6f1e-4b6b-9a50-0d7a4a3a6d11`);
    await untilGone(directory);
    expect(directory).toContain(run.metadata.uid);
  });

  it("that leaves processes behind has ended when these are ended, too", async () => {
    await using stage = new LocalStage();
    stage.workflow(
      "w",
      script(
        'sleep 600 &\nsetsid sleep 601 > /dev/null 2>&1 &\nsetsid sh -c "trap \'\' TERM; sleep 602; sleep 603" &\necho done >> "$WITNESS"',
      ),
    );
    await stage.startRunner();

    const run = await stage.run("w");

    expect(stage.engine.stateOf(run).kind).toBe("succeeded");
    expect(await stage.killSteps()).toEqual([]);
    expect(commandLines().filter((line) => /sleep 60[0-3]/.test(line))).toEqual([]);
  });

  it("keeps the beginning and the end of its output, and the number of bytes in between", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script("echo begin; head -c 1000000 /dev/zero | tr '\\000' x; echo; echo end"));
    await stage.startRunner({ outputBytes: 2_000 });

    const run = await stage.run("w");

    const [log] = await readLogs(stage.dataDir, run.metadata.uid ?? "");
    expect(log).toMatchObject({ task: "only", attempt: 1, step: "run" });
    expect(log?.text).toMatch(/^begin\nx+\n… 998011 bytes left out …\nx+\nend\n$/);
    expect(log?.text?.length).toBeLessThan(2_100);
  });

  it("shows no secrets in its output, and leaves none on disk", async () => {
    await using stage = new LocalStage();
    stage.workflow(
      "w",
      pipeline(`
  params: [{name: api-token}, {name: LICENCE}, {name: MODE}]
  tasks:
    - name: only
      taskSpec:
        steps:
          - env:
              - {name: DB_PASSWORD, value: "$(params.api-token)-2"}
              - {name: TEXT, value: "$(params.LICENCE), $(params.MODE)"}
            script: |
              echo "got $DB_PASSWORD and $DEPLOY_TOKEN"
              echo "$TEXT"
              echo "cloning https://me:hunter22@example.org/x"
              echo "Authorization: Bearer abcdefghijkl"
`),
    );
    await stage.startRunner({ env: { DEPLOY_TOKEN: "passed-through" } });

    const parameters = { "api-token": "s3cr3t-value", LICENCE: "1234-s3cr3t-5678", MODE: "fast" };
    const run = await stage.run("w", { parameters, secretParameters: ["LICENCE"] });

    const [log] = await readLogs(stage.dataDir, run.metadata.uid ?? "");
    expect(log?.text).toBe(
      "got [redacted] and [redacted]\n[redacted], fast\ncloning https://[redacted]@example.org/x\nAuthorization: Bearer [redacted]\n",
    );
    const files = readdirSync(stage.dataDir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
    const content = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join();
    expect(content).not.toContain("passed-through");
    expect(content).not.toContain("s3cr3t");
  });

  it("that creates a pipe or a link in place of a result has written none", async () => {
    await using stage = new LocalStage();
    writeFileSync(join(stage.root, "secret"), "secret");
    stage.workflow(
      "w",
      pipeline(`
  tasks:
    - name: only
      taskSpec:
        results: [{name: pipe}, {name: link}, {name: good}]
        steps:
          - script: mkfifo $(results.pipe.path); ln -s ${stage.root}/secret $(results.link.path); printf ok > $(results.good.path)
`),
    );
    await stage.startRunner();

    const run = await stage.run("w");

    const [task] = await stage.taskRuns(run);
    expect(Reflect.get(task?.status ?? {}, "results")).toEqual([{ name: "good", type: "string", value: "ok" }]);
  });

  it("whose program cannot be found fails with 127, with the reason in its output", async () => {
    await using stage = new LocalStage();
    stage.workflow(
      "w",
      pipeline("  tasks: [{name: only, taskSpec: {steps: [{name: run, command: [no-such-program]}]}}]"),
    );
    await stage.startRunner();

    const run = await stage.run("w");

    expect(await stage.engine.readFailure(run)).toMatchObject({
      failedStepName: "run",
      exitCode: 127,
      reason: "TaskRunFailed",
    });
    expect((await readLogs(stage.dataDir, run.metadata.uid ?? ""))[0]?.text).toContain("no-such-program");
  });

  it("runs even if its PATH contains no program", async () => {
    await using stage = new LocalStage();
    const env = "env: [{name: PATH, value: /nowhere}]";
    stage.workflow("w", pipeline(`  tasks: [{name: only, taskSpec: {steps: [{command: [/bin/true], ${env}}]}}]`));
    await stage.startRunner();

    expect(stage.engine.stateOf(await stage.run("w")).kind).toBe("succeeded");
  });

  it("in JavaScript is CommonJS, whatever a package.json above the data directory contains", async () => {
    await using stage = new LocalStage();
    writeFileSync(join(dirname(stage.dataDir), "package.json"), JSON.stringify({ type: "module" }));
    stage.workflow("w", script(`#!${process.execPath}\nconsole.log(require("node:os").EOL.length)`));
    await stage.startRunner();

    const run = await stage.run("w");

    expect((await readLogs(stage.dataDir, run.metadata.uid ?? ""))[0]?.text).toBe("1\n");
    expect(stage.engine.stateOf(run).kind).toBe("succeeded");
  });

  it("with the character NUL in a value is not started", async () => {
    await using stage = new LocalStage();
    const steps = "[{command: [echo, $(params.x)]}]";
    stage.workflow("w", pipeline(`  params: [{name: x}]\n  tasks: [{name: only, taskSpec: {steps: ${steps}}}]`));
    await stage.startRunner();

    const run = await stage.run("w", { parameters: { x: "a\0b" } });

    expect(await stage.engine.readFailure(run)).toMatchObject({ reason: "ConfigurationError", anythingStarted: false });
  });

  it("whose working directory does not exist is not started", async () => {
    await using stage = new LocalStage();
    stage.workflow(
      "w",
      pipeline("  tasks: [{name: only, taskSpec: {steps: [{command: [pwd], workingDir: /no/such}]}}]"),
    );
    await stage.startRunner();

    const run = await stage.run("w");

    expect(await stage.engine.readFailure(run)).toMatchObject({
      reason: "ConfigurationError",
      message: '"step-unnamed-0" could not be started: its working directory /no/such does not exist',
      anythingStarted: false,
    });
  });
});

describe("a runner", () => {
  it("stands by while another runner has the data directory, and takes over when that stops", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script('echo began >> "$WITNESS"; sleep 1; echo ended >> "$WITNESS"'));
    const first = await stage.startRunner();
    await first.active;
    const second = await stage.startRunner();
    let isActive = false;
    void second.active.then(() => {
      isActive = true;
    });
    const run = await stage.begin("w");
    await stage.untilWitnessed();
    expect(isActive).toBe(false);

    await first.stop();
    await second.active;
    const end = await stage.end(run);

    expect(stage.engine.stateOf(end).kind).toBe("succeeded");
    expect(stage.witnessed()).toEqual(["began", "ended"]);
  });

  it("that cannot run steps fails at startup", async () => {
    await using stage = new LocalStage();
    const processes = { ...systemProcesses(), start: async () => "there is no flock" };

    const runner = await stage.startRunner({ processes });

    await expect(runner.active).rejects.toThrow(
      "The engine local cannot run steps here: there is no flock. It needs flock",
    );
  });

  it("with another data directory does not touch runs that have begun", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script('echo ran >> "$WITNESS"; sleep 0.5'));
    const other = await stage.startRunner({ dataDir: join(stage.root, "other") });
    await stage.startRunner();
    await other.active;

    const runs = [];
    for (const name of ["a", "b", "c", "d"]) runs.push(await stage.begin("w", { name, target: `node/${name}` }));
    for (const run of runs) await stage.end(run);

    expect(stage.witnessed()).toHaveLength(4);
  });

  it("keeps the output of as many runs as configured", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script("echo hello"));
    await stage.startRunner({ keptRuns: 2 });

    const uids: string[] = [];
    for (const name of ["a", "b", "c", "d"]) {
      const run = await stage.run("w", { name });
      uids.push(run.metadata.uid ?? "");
      await untilExists(join(stage.dataDir, "runs", run.metadata.uid ?? "", "closed"));
    }

    await untilGone(join(stage.dataDir, "runs", uids[1] ?? ""));
    expect(await readLogs(stage.dataDir, uids[0] ?? "")).toEqual([]);
    expect((await readLogs(stage.dataDir, uids[3] ?? ""))[0]?.text).toBe("hello\n");
  });

  it("deletes TaskRuns that an earlier run of the same name left behind", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script("exit 0"));
    await stage.startRunner();
    const first = await stage.run("w");
    await stage.client.delete(pipelineRuns, refOf(first), { propagation: "Orphan" });

    const second = await stage.run("w");

    expect(await stage.taskRuns(first)).toEqual([]);
    expect(await stage.taskRuns(second)).toHaveLength(1);
  });

  it("rejects an unsupported pipeline that was written to the API server by hand", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script("exit 0"));
    await stage.startRunner();
    const prepared = await stage.engine.prepare(
      runOrder({ workflow: { id: "w", containerImage: "w", pipeline: "p" } }),
    );
    if (prepared.kind !== "prepared") throw new Error(prepared.message);
    const pipelineSpec = {
      tasks: [{ name: "only", taskSpec: { steps: [{ script: "echo $(params.x)" }] } }],
      params: [{ name: "x" }],
    };
    const created = await stage.client.create(pipelineRuns, { ...prepared.run, spec: { pipelineSpec } });

    if (created.kind !== "created") throw new Error(created.kind);
    const end = await stage.end(created.object);

    expect(end.status?.conditions?.[0]).toMatchObject({ status: "False", reason: "PipelineValidationFailed" });
    expect(await stage.engine.readFailure(end)).toMatchObject({ reason: "ConfigurationError", anythingStarted: false });
  });
});

describe("the example", () => {
  it("runs as it is", async () => {
    await using stage = new LocalStage();
    const example = join(import.meta.dirname, "../../../workflows/node-disk-cleanup");
    cpSync(example, join(stage.workflowsRoot, "node-disk-cleanup"), { recursive: true });
    await stage.startRunner();

    const run = await stage.run("node-disk-cleanup", { target: "node/worker-node-1" });

    expect(stage.engine.stateOf(run)).toMatchObject({
      kind: "succeeded",
      progress: { completedTasks: 3, totalTasks: 3 },
    });
    expect(Reflect.get(run.status ?? {}, "results")).toEqual([{ name: "removed", value: "2" }]);
    const logs = await readLogs(stage.dataDir, run.metadata.uid ?? "");
    expect(logs.find(({ task }) => task === "report")?.text).toBe("clean-up of node/worker-node-1: Succeeded\n");
  });
});

describe("the engine", () => {
  it("accepts the name of a folder, and no path or link out of the root", async () => {
    await using stage = new LocalStage();
    mkdirSync(join(stage.root, "outside"));
    symlinkSync(join(stage.root, "outside"), join(stage.workflowsRoot, "link"));
    writeFileSync(join(stage.workflowsRoot, "file"), "");
    mkdirSync(join(stage.workflowsRoot, "empty"));
    const refusal = async (containerImage: string) => {
      const prepared = await stage.engine.prepare(runOrder({ workflow: { id: "w", containerImage, pipeline: "p" } }));
      return prepared.kind === "refused" ? prepared.message : "";
    };

    for (const name of ["../outside", "/etc", "..", ".", "a/b", ""])
      expect(await refusal(name)).toContain("is not the name of a folder");
    expect(await refusal("link")).toContain("by a link");
    expect(await refusal("file")).toContain("is not a folder");
    expect(await refusal("missing")).toContain("there is no folder");
    expect(await refusal("empty")).toBe("there is no file empty/pipeline.yaml");
  });

  it("rejects a ready-made action before it starts if no cluster is configured", async () => {
    await using stage = new LocalStage();
    const { client, workflowsRoot } = stage;
    stage.workflow("act", pipeline(`  tasks: [{name: a, taskSpec: {steps: [{command: [interlock, action, scale]}]}}]`));
    const prepare = (stepsHaveKubeconfig: boolean) =>
      localEngine({ client, workflowsRoot, stepsHaveKubeconfig }).prepare(
        runOrder({ workflow: { id: "act", containerImage: "act", pipeline: "workflow" } }),
      );

    expect(await prepare(true)).toMatchObject({ kind: "prepared" });
    expect(await prepare(false)).toEqual({
      kind: "refused",
      reason: "ConfigurationError",
      message:
        "it acts on a cluster, and none is configured: set execution.localKubeconfig (or LOCAL_KUBECONFIG), then restart",
    });
  });

  it("and its runner fail if a real Tekton is installed", async () => {
    await using stage = new LocalStage();
    stage.workflow("w", script("exit 0"));
    const names = { kind: "PipelineRun", listKind: "PipelineRunList", plural: "pipelineruns", singular: "pipelinerun" };
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const spec = { group: "tekton.dev", scope: "Namespaced", names, versions };
    await stage.client.create(customResourceDefinitions, {
      metadata: { name: "pipelineruns.tekton.dev" },
      spec,
    } as never);

    await expect(stage.startRunner()).rejects.toThrow("where Tekton is installed");
    await expect(stage.begin("w")).rejects.toThrow("where Tekton is installed");
  });
});

function commandLines(): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
      return "";
    }
  });
}

async function untilExists(path: string) {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 10));
}

async function untilGone(path: string) {
  while (existsSync(path) && statSync(path)) await new Promise((resolve) => setTimeout(resolve, 10));
}
