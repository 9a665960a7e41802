import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeClient } from "../src/kube/index.ts";
import { codingTasks } from "../src/resources/index.ts";
import { type GitLabDouble, startGitLab } from "../test/doubles/gitlab/start-gitlab.ts";
import { type CoderStep, scriptedCoder } from "../test/doubles/scripted-coder.ts";
import { until } from "../test/executor/processes/until.ts";
import { UpProcess } from "../test/services/up-process.ts";

// npm run demo:agent            a merge request is reviewed, and a comment carried out
// npm run demo:agent -- --json  the last line is one JSON object
//
// GitLab is the double of our tests, with real git behind it, and the coder is a script with three results. Everything
// between the two is Interlock, as `npm start` runs it.

const secret = "secret-of-the-webhook";
const before = "export const vat = 0.19;\n";
const after = `${before}export const gross = (net: number) => net * 1.19;\n`;
const cases = [
  { kind: "edit", steps: [{ do: "replace", path: "price.ts", from: "1.19", to: "(1 + vat)" }, answer("Done.")] },
  { kind: "review", matches: "net \\* 1\\.19", steps: [answer("One remark.", "There is a name for this: vat.")] },
  { kind: "review", steps: [answer("The constant is used.")] },
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

/** Starts `interlock up`, with two webhooks that report each event twice. */
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
  console.log("A simulated GitLab sends each webhook twice; a scripted coder reads and edits the code.\n");
  console.log("1. Ann opens the merge request shop/cart!1. The agent reviews it:\n");
  const mr = await gitlab.openMergeRequest(project, { sourceBranch: "gross", title: "Gross prices", author: ann });
  await allEnded(1);
  const reviewed = printNotes(0);

  console.log(
    "\n2. Ann writes a comment. The agent pushes a commit, replies, and reviews the commit in the same summary:\n",
  );
  await gitlab.commentOn(mr, ann, "/copilot use the constant");
  // The third is the review of the commit that the second has pushed.
  const tasks = await allEnded(3);
  printNotes(reviewed);
  const file = await project.repository.file("refs/heads/gross", "price.ts");
  console.log(`\n3. price.ts on the branch is now:\n\n${indent(String(file))}`);

  const { notes, pushes } = gitlab.whatHappened();
  const own = notes.filter(({ author, isDeleted }) => author === "copilot" && !isDeleted);
  const figures = {
    tasks: tasks.map(({ spec, status }) => `${spec.type} ${status?.phase}`).sort(),
    findings: own.filter(({ position }) => position).length,
    pushes: pushes.filter(({ user, ref }) => user === "copilot" && ref === "refs/heads/gross").length,
  };
  console.log(`Tasks: ${figures.tasks.join(", ")}. Each was done once, although it was reported twice.`);
  console.log("With your own GitLab and coder: see README.md, chapter Agent.");
  return figures;

  /** Prints the notes after the first `skipped`, and those that changed. Returns the number of all notes. */
  function printNotes(skipped: number): number {
    const { notes } = gitlab.whatHappened();
    const changed = notes.slice(0, skipped).filter(isSummary);
    for (const { author, body, position, isDeleted } of [...notes.slice(skipped), ...changed]) {
      if (!isDeleted) console.log(`   ${author.padEnd(8)} ${position ? "price.ts: " : ""}${plain(body)}`);
    }
    return notes.length;
  }

  async function allEnded(count: number) {
    const list = async () => {
      const { items } = await client.list(codingTasks);
      const isOver = items.every(({ status }) => status && "completionTime" in status);
      return items.length >= count && isOver ? items : undefined;
    };
    return until(`${count} tasks have ended`, list, { withinMs: 120_000 });
  }
}

function isSummary({ body }: { readonly body: string }): boolean {
  return body.startsWith("## Code Review Summary");
}

function answer(summary: string, message?: string): CoderStep {
  const finding = { path: "price.ts", line: 2, severity: "warning", message };
  return { do: "answer", value: { summary, findings: message ? [finding] : [] } };
}

/** Without the marks by which Interlock recognises its own notes. */
function plain(body: string): string {
  return body
    .replace(/<!--.*?-->/gs, "")
    .trim()
    .replace(/\n+/g, "\n            ");
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "   ");
}
