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
import { dieWithUs, end, heard } from "../services/child.ts";
import { plainEnv } from "../services/interlock.ts";
import { interlockProgram } from "../services/program.ts";
import { root } from "../services/working-tree.ts";

interface Block {
  /** The block's first line, which names it in the tables below. */
  readonly first: string;
  readonly script: string;
}

/** Blocks that are run here, in this order, beside an `interlock up` that has handled one alert. By the beginning of their first line. */
const run: readonly string[] = [
  "interlock get incidents",
  "interlock run node-disk-cleanup --target node/worker-1     # creates",
  "interlock run node-disk-cleanup --target node/worker-1",
  "interlock ledger show payment",
  "interlock ledger show --type pause.started",
  "interlock ledger keygen",
  "# verify",
  "# the expected signature",
  "curl -s http://127.0.0.1:8080/metrics",
  "npm run -s interlock -- policy test --rules rules/kube-prometheus",
  "npm run -s interlock -- receive grafana",
];

/** Blocks that are not run here, each with the reason, or with the test that runs the same. By the beginning of their first line. */
const notRun: Readonly<Record<string, string>> = {
  "npm start": "installs and builds the checkout; test/package/tarball.test.ts starts up from the package",
  "$ npm start": "the same",
  "$ interlock receive": "the conversation of the README, compared below",
  "$ npm run -s demo:storm": "a demonstration of seconds with random names; test/remediation runs the same storm",
  "npx tsx examples/exclusive-section.ts": "test/coordination/young-redis.test.ts runs it",
  "interlock run restart-rollout": "needs a cluster with Deployments; test/actions runs it",
  "kubectl apply -f workflows/restart-rollout": "needs a cluster; test/actions applies the files",
  "tkn bundle push": "needs a registry",
  "export GITLAB_URL": "needs GitLab",
  "interlock why https://gitlab.example.com": "needs GitLab; src/cli/commands/tasks.test.ts asks the same",
  JIRA_URL: "needs Jira",
  "npm run bench:locks": "takes minutes",
  "npx vitest run test/executor": "a test of this suite",
  "npx vitest run test/policy": "a test of this suite",
  "interlock api --data": "a server; test/api starts it and asks it with kubectl",
  "interlock run node-reboot":
    "a workflow with an approval that is not in the package; src/cli/commands/approve.test.ts",
  "interlock ack EXECUTION": "needs a failed execution; test/operate has one",
  "interlock cancel EXECUTION": "needs a running execution; test/operate has one",
  "npm run -s interlock -- api &": "servers; test/gateway starts them",
  LEDGER_URL: "needs PostgreSQL; test/ledger uses it",
  "# events of one target": "needs jq, which is not a program of the tests",
  NOTIFY_SLACK_URL: "needs Slack",
  "interlock ack rr-s3rd7pvp-1": "needs a failed execution",
  "interlock get approvals": "needs a workflow with an approval",
  "interlock ack INCIDENT": "needs a failed execution",
  "STATE_BACKEND=redis": "a server with Redis; test/coordination",
  "npm run -s interlock -- policy test  ":
    "shows placeholders; src/cli/commands/policy.ts is tested with folders in test/policy",
  "interlock manifests --gateway-tls": "needs a cluster; test/manifests",
};

const pages = ["README.md", ...readdirSync(join(root, "docs")).map((file) => `docs/${file}`)].filter(
  // The guide to a cluster has a test of its own.
  (path) => path.endsWith(".md") && path !== "docs/cluster.md",
);
const blocks = pages.flatMap(blocksOf);

describe("the commands in README and docs", { timeout: 120_000 }, () => {
  let directory: string;
  let gateway = "";
  let stop: () => Promise<void>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "interlock-docs-"));
    for (const name of ["rules", "workflows", "examples"]) symlinkSync(join(root, name), join(directory, name));
    const program = await interlockProgram();
    mkdirSync(join(directory, "bin"));
    writeFileSync(join(directory, "bin/interlock"), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
    chmodSync(join(directory, "bin/interlock"), 0o755);
    writeFileSync(join(directory, "interlock.yaml"), "gateway:\n  listen: 127.0.0.1:0\nconsole:\n  enabled: false\n");
    const child = spawn(process.execPath, [program, "up", "--listen", "127.0.0.1:0"], {
      cwd: directory,
      stdio: ["ignore", "pipe", "inherit"],
      env: plainEnv,
    });
    dieWithUs(child);
    const { input } = await heard(child, /Next, in a second terminal:\n\n.+\n\n/s);
    gateway = /gateway\s+http:\/\/(\S+)/.exec(input)?.[1] ?? "";
    stop = () => end(child, "SIGTERM");
  }, 120_000);
  afterAll(async () => {
    await stop?.();
    rmSync(directory, { recursive: true });
  });

  it("are all in one of the tables, and the tables have no others", () => {
    const known = [...run, ...Object.keys(notRun)];

    expect(blocks.filter(({ first }) => !known.some((start) => first.startsWith(start)))).toEqual([]);
    expect(known.filter((start) => !blocks.some(({ first }) => first.startsWith(start)))).toEqual([]);
  });

  it("of the README's first steps print what it shows", async () => {
    const block = blocks.find(({ first }) => first.startsWith("$ interlock receive"));
    const [received, why, ran] = commandsIn(block?.script ?? "");

    const opened = await sh(received?.command ?? "");
    expect(normal(opened.output)).toBe(normal(received?.shown ?? ""));
    const incident = /rr-\S+(?=:)/.exec(opened.output)?.[0] ?? "";
    await until("the incident is closed or verified", async () =>
      /Completed|Verifying/.test((await sh(`interlock get incidents ${incident}`)).output),
    );
    expect((await sh((why?.command ?? "").replace("rr-s3rd7pvp-1", incident))).status).toBe(0);
    const skipped = await sh(ran?.command ?? "");
    expect(skipped.status).toBe(3);
    expect(normal(skipped.output)).toBe(normal(ran?.shown ?? ""));
  });

  it.each(run)("in the block that begins with %j do what they are for", async (start) => {
    const block = blocks.find(({ first }) => first.startsWith(start));
    const names = (await sh("interlock get executions -o jsonpath='{.items[0].metadata.name}'")).output.trim();
    const [incident = ""] = /rr-\S+/.exec((await sh("interlock get incidents")).output) ?? [];

    const { status, output } = await sh(
      (block?.script ?? "")
        .replaceAll("npm run -s interlock --", "interlock")
        .replaceAll("EXECUTION", names)
        .replaceAll(/rr-…|rr-s3rd7pvp-1/g, incident)
        .replaceAll("/secure/", "./")
        .replaceAll("/mnt/worm", "./worm")
        .replaceAll("checkpoint-….json", "checkpoint-*.json")
        .replaceAll("127.0.0.1:8080", gateway),
    );

    expect(output).not.toMatch(/^(error|changed|does not follow): /m);
    // 3: skipped, because of the cooldown after the run before.
    expect([0, 3]).toContain(status);
  });

  function sh(script: string): Promise<{ readonly status: number; readonly output: string }> {
    const variables = { timestamp: "1", body: "{}", secret: "s", file: journal(), LEDGER_DIR: "" };
    const env = { ...plainEnv, ...variables, PATH: `${directory}/bin:${process.env["PATH"]}`, HOME: directory };
    return new Promise((resolve) => {
      execFile("sh", ["-c", script], { cwd: directory, env }, (error, stdout, stderr) => {
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

function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```(?:sh|console)\n([\s\S]*?)^```$/gm)].map(([, script = ""]) => {
    return { first: script.split("\n", 1)[0] ?? "", script };
  });
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

/** Without what differs from run to run: names, times, durations, and where lines are broken. */
function normal(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\b(\d+(h|ms|m|s))+\b/g, "DURATION")
    .replaceAll(/rr-[0-9a-v]{8}(-\d+)+/g, "INCIDENT")
    .replaceAll(/node-disk-cleanup-[0-9a-z]{12}/g, "EXECUTION")
    .replaceAll(/\s+/g, " ")
    .trim();
}
