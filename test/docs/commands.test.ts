import { execFile, spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../executor/processes/until.ts";
import { dieWithUs, end, waitForOutput } from "../services/child.ts";
import { plainEnv } from "../services/interlock.ts";
import { interlockProgram } from "../services/program.ts";
import { root } from "../services/working-tree.ts";
import { escaped } from "./escaped.ts";
import { namedTests, testTitles } from "./named-tests.ts";

interface Block {
  /** The page and the block's first line, which name it in the tables below. */
  readonly name: string;
  readonly script: string;
}

/**
 * Blocks that are run here, in this order, beside an `interlock up` that has handled one alert, with what they print. By page
 * and the beginning of their first line. Each command has to succeed.
 */
const run: Readonly<Record<string, RegExp>> = {
  "docs/orchestrator.md: interlock get incidents": /Completed|Verifying/,
  "docs/executor.md: interlock run node-disk-cleanup": /completed[\s\S]+node\/worker/i,
  "docs/local-engine.md: interlock run node-disk-cleanup": /completed/i,
  "docs/ledger.md: interlock ledger show payment": /"hash":/,
  "docs/ledger.md: interlock ledger show --type pause.started": /node\/elsewhere/,
  "docs/ledger.md: # events of one target": /^\["\d{4}-[\s\S]+"pause\.started": 1/m,
  // It prints only rows that were changed or removed.
  "docs/ledger.md: # verify": /^$/,
  "docs/ledger.md: interlock ledger keygen": /checkpoint/,
  "docs/console.md: interlock users link": /login\/link\?token=/,
  "docs/notify.md: # the expected signature": /[0-9a-f]{64}$/m,
  "docs/observability.md: curl -s http://127.0.0.1:8080/metrics": /^gateway_lock_acquisition_attempts_total [1-9]/m,
  "docs/actions.md: npm run -s interlock -- policy test": / 0 failed/,
  "docs/rules.md: npm run -s interlock -- policy test": / 0 failed[\s\S]+ 0 failed[\s\S]+ 0 failed/,
  "docs/senders.md: npm run -s interlock -- receive grafana": /grafana|would/i,
};

/**
 * Blocks whose program needs a service that is not here. `interlock config view` reads their settings instead, which refuses what
 * cannot be right; it has to name these settings.
 */
const settings: Readonly<Record<string, readonly string[]>> = {
  "README.md: export GITLAB_URL": ["gitlab.poll", "agent.command"],
  "docs/agent.md: export GITLAB_URL": ["gitlab.webhookSecret", "agent.command"],
  "docs/agent.md: JIRA_URL": ["jira.apiToken", "jira.projects"],
  "docs/ledger.md: LEDGER_URL": ["ledger.url"],
  "docs/notify.md: NOTIFY_SLACK_URL": ["notify.slackUrl", "notify.routes"],
  "docs/redis.md: STATE_BACKEND=redis": ["state.backend", "redis.url"],
  "docs/restart.md: STATE_BACKEND=redis": ["state.backend", "redis.url"],
};

/** Conversations, whose output is compared below. */
const compared = ["README.md: $ npm start", "README.md: $ interlock receive", "README.md: $ npm run -s demo:storm"];

/** Blocks that are not run here, each with the test that does the same, or with what it would need. */
const notRun: Readonly<Record<string, string>> = {
  "README.md: npm start": '`test/commands/npm-start.proof.ts` "installs, builds and runs"',
  "README.md: npx tsx examples/exclusive-section.ts":
    '`test/coordination/young-redis.test.ts` "explains the wait, then works"',
  "docs/actions.md: interlock run restart-rollout":
    '`test/actions/actions.test.ts` "prints its writes in a dry run, and writes nothing"',
  "docs/actions.md: kubectl apply -f workflows/restart-rollout":
    '`test/actions/shipped-files.test.ts` "are a catalog without problems, for every engine"',
  "docs/actions.md: tkn bundle push": "needs a registry of images",
  "docs/agent.md: interlock why https://gitlab.example.com":
    '`src/operate/explain/report.test.ts` "finds it by %s", `src/operate/explain/report.test.ts` "finds an issue by %s"',
  "docs/benchmarks.md: npm run bench": '`test/docs/commands.test.ts` "name scripts of the package"',
  "docs/console.md: $ interlock up":
    '`test/docs/commands.test.ts` "begin with a start that prints what the README shows"',
  "docs/defects.md: npx vitest run": '`test/executor/edge-cases.test.ts` "keeps the cooldown when the run was pruned"',
  "docs/embedded-api.md: interlock api --data": '`test/docs/cluster-guide.test.ts` "runs %s"',
  "docs/executor.md: interlock run node-reboot":
    '`src/cli/commands/run.test.ts` "requests one, waits for the answer, and creates an execution that refers to it"',
  "docs/executor.md: interlock ack EXECUTION":
    '`test/commands/incidents.test.ts` "acknowledges a failure, of the execution that failed"',
  "docs/executor.md: interlock cancel EXECUTION":
    '`test/executor/cancel.test.ts` "cancels an execution in the caller\'s name"',
  "docs/gateway.md: npm run -s interlock -- api &":
    '`test/gateway/processes.test.ts` "open one incident for 1,000 posts of one fingerprint to three of them, and count every one"',
  "docs/operate.md: interlock ack rr-":
    '`test/commands/incidents.test.ts` "works with the name of the incident, too", `src/cli/commands/run.test.ts` "runs the workflow of an ended execution again, and has its exit status"',
  "docs/orchestrator.md: interlock get approvals":
    '`test/commands/incidents.test.ts` "approves a workflow that requires an approval"',
  "docs/orchestrator.md: interlock ack INCIDENT":
    '`test/commands/incidents.test.ts` "works with the name of the incident, too"',
  "docs/scenarios.md: npx vitest run": '`test/policy/scenarios.test.ts` "%s"',
  "docs/security.md: interlock manifests --gateway-tls":
    '`test/manifests/manifests.test.ts` "mounts it, serves TLS with it, and is probed over HTTPS"',
};

const pages = ["README.md", ...readdirSync(join(root, "docs")).map((file) => `docs/${file}`)].filter(
  // The guide to a cluster has a test of its own.
  (path) => path.endsWith(".md") && path !== "docs/cluster.md",
);
const blocks = pages.flatMap(blocksOf);

describe("the commands in README and docs", { timeout: 120_000 }, () => {
  let directory: string;
  let screen = "";
  let gateway = "";
  let stop: () => Promise<void>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "interlock-docs-"));
    for (const name of ["rules", "workflows", "examples"]) symlinkSync(join(root, name), join(directory, name));
    const program = await interlockProgram();
    mkdirSync(join(directory, "bin"));
    writeFileSync(join(directory, "bin/interlock"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(join(directory, "bin/interlock"), 0o755);
    writeFileSync(join(directory, "interlock.yaml"), "gateway:\n  listen: 127.0.0.1:0\n");
    const child = spawn(process.execPath, [program, "up", "--listen", "127.0.0.1:0"], {
      cwd: directory,
      stdio: ["ignore", "pipe", "inherit"],
      env: plainEnv,
    });
    dieWithUs(child);
    ({ input: screen } = await waitForOutput(child, /Next, in a second terminal:\n\n.+\n\n/s));
    gateway = /gateway\s+http:\/\/(\S+)/.exec(screen)?.[1] ?? "";
    stop = () => end(child, "SIGTERM");
    await sh("interlock pause target node/elsewhere --reason maintenance");
    await until("the pause is recorded", async () =>
      (await sh("interlock ledger show --type pause.started")).output.includes("node/elsewhere"),
    );
  }, 120_000);
  afterAll(async () => {
    await stop?.();
    rmSync(directory, { recursive: true });
  });

  it("are each in one of the tables, and each entry is one block", () => {
    const entries = [run, settings, notRun].flatMap(Object.keys).concat(compared);

    expect(blocks.filter(({ name }) => entries.filter((start) => name.startsWith(start)).length !== 1)).toEqual([]);
    expect(entries.filter((start) => blocksNamed(start).length !== 1)).toEqual([]);
  });

  it("that are not run need what no test has, or another test does the same", () => {
    for (const reason of Object.values(notRun)) {
      const tests = namedTests(reason);
      for (const { file, title } of tests) expect(testTitles(file), file).toContain(title);
      expect(tests.length > 0 || /^needs /.test(reason), reason).toBe(true);
    }
  });

  it("name scripts of the package", () => {
    const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const used = blocks.flatMap(({ script }) =>
      [...script.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name = ""]) => name),
    );

    expect(used.filter((name) => !(name in scripts))).toEqual([]);
    expect(used).toContain("bench:locks");
  });

  it("begin with a start that prints what the README shows", () => {
    const [started] = commandsIn(blockNamed("README.md: $ npm start").script);

    // The README has no settings, and the alias of a clone.
    const own = screen.replace(/^ {2}settings .*\n(?: {15}.*\n)*/m, "").replace(/alias .*/, "alias …");
    expect(normal(own)).toMatch(shownPattern((started?.shown ?? "").replace(/alias .*/, "alias …")));
  });

  it("of the README's first steps print what it shows", async () => {
    const [received, ran, why] = commandsIn(blockNamed("README.md: $ interlock receive").script);

    const opened = await sh(received?.command ?? "");
    expect(normal(opened.output)).toMatch(shownPattern(received?.shown ?? ""));
    const incident = /rr-\S+(?=:)/.exec(opened.output)?.[0] ?? "";
    await until("the incident is closed or verified", async () =>
      /Completed|Verifying/.test((await sh(`interlock get incidents ${incident}`)).output),
    );
    const skipped = await sh(ran?.command ?? "");
    expect(skipped.status).toBe(3);
    expect(normal(skipped.output)).toMatch(shownPattern(ran?.shown ?? ""));
    expect(normal((await sh(why?.command ?? "")).output)).toMatch(shownPattern(why?.shown ?? ""));
  });

  it("of the README's storm print what it shows", async () => {
    const [storm] = commandsIn(blockNamed("README.md: $ npm run -s demo:storm").script);

    const inPackage = `INTERLOCK_DATA="${directory}/.data" npm --prefix "${root}"`;
    const { status, output } = await sh((storm?.command ?? "").replace("npm", inPackage));

    expect(normal(output)).toMatch(shownPattern(storm?.shown ?? ""));
    expect(status).toBe(0);
  });

  it.each(Object.entries(run))("in the block %j succeed", async (start, prints) => {
    const [execution = ""] =
      /\S+$/m.exec((await sh("interlock get executions --phase Completed -o name")).output) ?? [];
    const [incident = ""] = /rr-\S+/.exec((await sh("interlock get incidents")).output) ?? [];

    const { status, output } = await sh(
      blockNamed(start)
        .script.replaceAll("npm run -s interlock --", "interlock")
        // A target of its own for each block: after a run, a target cools down.
        .replaceAll("node/worker-1", `node/worker-${Object.keys(run).indexOf(start) + 2}`)
        .replaceAll("payment/deployment/payment-api", "node/worker-1")
        .replaceAll("EXECUTION", execution.replace(/.*\//, ""))
        .replaceAll(/rr-…|rr-s3rd7pvp-1/g, incident)
        .replaceAll("/secure/", "./")
        .replaceAll("/mnt/worm", "./worm")
        .replaceAll("checkpoint-….json", "checkpoint-*.json")
        .replaceAll("<directory>", ".data/ledger")
        .replaceAll("--rules DIR FILE...", "--rules rules/kube-prometheus rules/kube-prometheus/tests/rules.yaml")
        .replaceAll("--crds DIR", `--crds "${root}/deploy/crds"`)
        .replaceAll("127.0.0.1:8080", gateway),
    );

    expect(output).toMatch(prints);
    expect(status).toBe(0);
  });

  it.each(Object.entries(settings))("in the block %j have settings that are understood", async (start, names) => {
    const script = blockNamed(start).script.replace(/^(.* )?(npm start|interlock (up|notify)).*$/m, "$1VIEW");
    const view = "interlock config view --changed";

    const { status, output } = await sh(
      `set -a\nGITLAB_URL=https://gitlab.example.com\n${script.includes("VIEW") ? script.replace("VIEW", view) : `${script}\n${view}`}`,
    );

    expect(status, output).toBe(0);
    for (const name of names) expect(output).toContain(`${name} `);
  });

  /** Ends at the first command that fails. */
  function sh(script: string): Promise<{ readonly status: number; readonly output: string }> {
    const variables = { timestamp: "1", body: "{}", secret: "s", file: journal() };
    const env = { ...plainEnv, ...variables, PATH: `${directory}/bin:${process.env["PATH"]}`, HOME: directory };
    return new Promise((resolve) => {
      execFile("sh", ["-ec", script], { cwd: directory, env }, (error, stdout, stderr) => {
        resolve({ status: typeof error?.code === "number" ? error.code : error ? -1 : 0, output: stdout + stderr });
      });
    });
  }

  /** A file of the ledger. */
  function journal(): string {
    const files = readdirSync(join(directory, ".data/ledger"), { recursive: true, encoding: "utf8" });
    return join(directory, ".data/ledger", files.find((file) => file.endsWith(".jsonl")) ?? "");
  }
});

/** Also of blocks that are indented, as in lists. */
function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^( *)```(?:sh|console)\n([\s\S]*?)^\1```$/gm)].map(([, indent = "", indented = ""]) => {
    const script = indented.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    return { name: `${page}: ${script.split("\n", 1)[0]}`, script };
  });
}

function blocksNamed(start: string): readonly Block[] {
  return blocks.filter(({ name }) => name.startsWith(start));
}

function blockNamed(start: string): Block {
  const [block] = blocksNamed(start);
  if (!block) throw new Error(`no block begins with ${start}`);
  return block;
}

/** The commands behind `$` of a conversation, each with the output below it. */
function commandsIn(script: string): readonly { readonly command: string; readonly shown: string }[] {
  return script
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [line = "", ...shown] = part.split("\n");
      return { command: line.replace(/\s+#.*$/, ""), shown: shown.join("\n") };
    });
}

/** What is shown, in which `…` stands for any text. */
function shownPattern(shown: string): RegExp {
  return new RegExp(`^${normal(shown).split("…").map(escaped).join(".*")}$`);
}

/** Without what differs from run to run: names, addresses, times, durations, and where lines are broken. */
function normal(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b(\d+(h|ms|m|s))+\b/g, "DURATION")
    .replaceAll(/rr-[0-9a-v]{8}(-\d+)+/g, "INCIDENT")
    .replaceAll(/node-disk-cleanup-[0-9a-z]{12}/g, "EXECUTION")
    .replaceAll(/worker-node-alertmanager-\w+/g, "NODE")
    .replaceAll(/(?<=seconds +)[\d.]+/g, "SECONDS")
    .replaceAll(/127\.0\.0\.1:\d+/g, "ADDRESS")
    .replaceAll(/\s+/g, " ")
    .trim();
}
