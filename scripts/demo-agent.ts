import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeClient } from "../src/kube/index.ts";
import { codingTasks } from "../src/resources/index.ts";
import { type GitLabDouble, startGitLab } from "../test/doubles/gitlab/start-gitlab.ts";
import { type CoderStep, scriptedCoder } from "../test/doubles/scripted-coder.ts";
import { until } from "../test/executor/processes/until.ts";
import { UpProcess } from "../test/services/up-process.ts";

// npm run demo:agent            the coder reviews a merge request, and does what a comment asks for
// npm run demo:agent -- --json  the last line is one JSON object
//
// GitLab is the server of our tests, with real git behind it, and the coder a script that knows three answers.
// All between the two is Interlock, as `npm start` runs it.

const secret = "secret-of-the-webhook";
const before = "export const vat = 0.19;\n";
const after = `${before}export const gross = (net: number) => net * 1.19;\n`;
const cases = [
  { kind: "edit", steps: [{ do: "replace", path: "price.ts", from: "1.19", to: "(1 + vat)" }, answer("Done.")] },
  { kind: "review", matches: "net \\* 1\\.19", steps: [answer("One remark.", "There is a name for this: vat.")] },
  { kind: "review", steps: [answer("Nothing to say.")] },
] as const;

const folder = await mkdtemp(join(tmpdir(), "interlock-demo-"));
// The coder may be another user.
await chmod(folder, 0o755);
const gitlab = await startGitLab();
const up = await startInterlock(gitlab);
try {
  const figures = await play(gitlab, await up.client());
  if (process.argv.includes("--json")) console.log(JSON.stringify(figures));
  process.exitCode = figures.findings === 1 && figures.pushes === 1 ? 0 : 1;
} finally {
  await up.stop();
  await gitlab.close();
  await rm(folder, { recursive: true, force: true });
}

/** With a webhook that reports everything twice. */
async function startInterlock(gitlab: GitLabDouble): Promise<UpProcess> {
  const { token, username } = gitlab.addUser("copilot");
  const command = JSON.stringify(await scriptedCoder(folder, { cases }));
  const settings = { gitlab: { url: gitlab.url, token, username, webhookSecret: secret }, agent: { command } };
  const up = await UpProcess.start({}, { settings });
  const [, hook = ""] = /agent +http\S+ +webhooks at (\S+)/.exec(up.screen) ?? [];
  gitlab.webhooks.sendTo([hook, hook], secret);
  return up;
}

async function play(gitlab: GitLabDouble, client: KubeClient) {
  const ann = gitlab.addUser("ann");
  const project = await gitlab.addProject({ path: "shop/cart", files: { "price.ts": before } });
  await gitlab.pushAs(ann, project, "gross", { "price.ts": after });
  const mr = await gitlab.openMergeRequest(project, { sourceBranch: "gross", title: "Gross prices", author: ann });
  await allEnded(1);
  await gitlab.commentOn(mr, ann, "/copilot use the constant");
  // The third is the review of what the second has pushed.
  const tasks = await allEnded(3);

  const { notes, pushes } = gitlab.whatHappened();
  console.log("\nAnn opens a merge request, and asks for something in a comment. GitLab reports each thing twice.\n");
  for (const { author, body, position, isDeleted } of notes) {
    if (!isDeleted) console.log(`  ${author.padEnd(8)} ${position ? "price.ts: " : ""}${plain(body)}`);
  }
  const file = await project.repository.file("refs/heads/gross", "price.ts");
  console.log(`\nprice.ts is now:\n\n${indented(String(file))}`);
  const own = notes.filter(({ author, isDeleted }) => author === "copilot" && !isDeleted);
  return {
    tasks: tasks.map(({ spec, status }) => `${spec.type} ${status?.phase}`).sort(),
    findings: own.filter(({ position }) => position).length,
    pushes: pushes.filter(({ user, ref }) => user === "copilot" && ref === "refs/heads/gross").length,
  };

  async function allEnded(count: number) {
    const look = async () => {
      const { items } = await client.list(codingTasks);
      const isOver = items.every(({ status }) => status && "completionTime" in status);
      return items.length >= count && isOver ? items : undefined;
    };
    return until(`${count} tasks have ended`, look, { withinMs: 120_000 });
  }
}

function answer(summary: string, message?: string): CoderStep {
  const finding = { path: "price.ts", line: 2, severity: "warning", message };
  return { do: "answer", value: { summary, findings: message ? [finding] : [] } };
}

/** Without the marks by which Interlock finds its own words again. */
function plain(body: string): string {
  return body
    .replace(/<!--.*?-->/gs, "")
    .trim()
    .replace(/\n+/g, "\n           ");
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
