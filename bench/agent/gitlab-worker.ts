import { startGitLab } from "../../test/doubles/gitlab/start-gitlab.ts";
import { clock } from "../executor/workbench.ts";

// GitLab, as far as a benchmark needs it, in a process of its own, so that it uses no time of Interlock's event loop.
const gitlab = await startGitLab();
const [bot, ann] = [gitlab.addUser("copilot"), gitlab.addUser("ann")];
const files = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`src/file-${i}.ts`, `// ${i}\n`.repeat(50)]));
const app = await gitlab.addProject({ path: "group/app", files });

const calls = {
  async about() {
    return { url: gitlab.url, token: bot.token, projectId: app.id, cloneUrl: app.cloneUrl };
  },
  async sendWebhooksTo(url: string, secret: string) {
    gitlab.webhooks.sendTo([url], secret);
  },
  /** Projects with open merge requests without a change in the last hour. */
  async addOldProjects(count: number, mergeRequests: number) {
    gitlab.webhooks.stopSending();
    const branches = Array.from({ length: mergeRequests }, (_, i) => `topic-${i}`);
    const change = Object.fromEntries(branches.map((name, i) => [name, { [`${i}.txt`]: `${i}\n` }]));
    const paths = Array.from({ length: count }, (_, i) => `old/project-${i}`);
    for (const path of paths) {
      const project = await gitlab.addProject({ path, branches: change });
      await Promise.all(branches.map((sourceBranch) => gitlab.openMergeRequest(project, { sourceBranch })));
    }
    return paths;
  },
  async advance(ms: number) {
    gitlab.time.advance(ms);
  },
  /** How many requests there were since this was asked last. */
  async requests() {
    const { counts } = gitlab.requests;
    gitlab.requests.clear();
    return counts;
  },
  /** Pushes a branch, then opens a merge request for it: `sentMs` is when its webhook leaves. */
  async openMergeRequest(branch: string) {
    const sha = await gitlab.pushAs(ann, app, branch, { "src/file-1.ts": `// ${branch}\n` });
    const sentMs = clock.wallMs();
    const { iid } = await gitlab.openMergeRequest(app, { sourceBranch: branch, author: ann });
    return { iid, sha, branch, sentMs };
  },
  async comment(iid: number, text: string) {
    const sentMs = clock.wallMs();
    await gitlab.commentOn(mergeRequest(iid), ann, text);
    return sentMs;
  },
  /** The number of final notes and replies. */
  async answers(iid: number) {
    const notes = mergeRequest(iid).discussions.flatMap(({ notes }) => notes);
    return notes.filter(({ author, body }) => author === bot && !body.startsWith("⏳")).length;
  },
};

function mergeRequest(iid: number) {
  const found = app.mergeRequests.find((one) => one.iid === iid);
  if (!found) throw new Error(`there is no merge request ${iid}`);
  return found;
}

/** The requests to the process. */
export type GitLabCalls = typeof calls;

process.on("message", async ({ name, args }: { name: keyof GitLabCalls; args: never[] }) => {
  const call = calls[name] as (...args: never[]) => Promise<unknown>;
  process.send?.({ value: await call(...args) });
});
process.on("disconnect", () => void gitlab.close());
