import { reviewedIn } from "../../src/agent/markers.ts";
import type { LedgerEvent } from "../../src/ledger/index.ts";
import { annotationKeys, begunAt, type CodingTask, isBuiltIn } from "../../src/resources/index.ts";
import { type AgentRemote, statuses, strangerId } from "./agent-remote.ts";
import { Violation } from "./lock-history.ts";

/** What has to be true on GitLab and Jira when all is quiet, whatever went wrong before. */
export function checkAgent(tasks: readonly CodingTask[], remote: AgentRemote, events: readonly LedgerEvent[]): void {
  for (const task of tasks) {
    const { name = "" } = task.metadata;
    if (!task.status || !("completionTime" in task.status)) fail("A1 ends", `${name} is ${task.status?.phase}`);
    checkCommits(task, remote);
    checkAnswers(task, remote);
    if (task.spec.type === "Review") checkReview(task, remote);
    if (task.spec.type === "Issue") checkIssue(task, remote);
    const isStrangers = task.spec.type === "Command" && task.spec.note.authorId === strangerId;
    if (isStrangers) checkNotServed(task, remote);
    const isAsked = task.metadata.annotations?.[annotationKeys.cancelRequested] !== undefined;
    if (task.status?.phase === "Cancelled" && !isAsked && !isStrangers)
      fail("A8 asked", `${name}: ${task.status.message}`);
  }
  checkSummaries(tasks, remote);
  checkOrder(tasks, remote, events);
}

/** What was asked for while everything was paused, and nothing else was wrong, was not begun; what only answers was. */
export function checkPaused(tasks: readonly CodingTask[]): void {
  for (const task of tasks) {
    const { name } = task.metadata;
    const { phase, message } = task.status ?? {};
    if (isBuiltIn(task) ? phase !== "Completed" : begunAt(task) !== undefined || !message?.startsWith("paused: ")) {
      fail("A9 paused", `${name} is ${phase}: ${message}`);
    }
  }
}

/** What a non-member writes triggers nothing. */
function checkNotServed({ metadata, spec, status }: CodingTask, remote: AgentRemote) {
  if (spec.type !== "Command") return;
  const { sourceBranch, iid } = spec.mergeRequest;
  if (status?.phase !== "Cancelled") fail("A10 members", `${metadata.name} of a stranger is ${status?.phase}`);
  if (commitsFor(metadata.uid ?? "", sourceBranch, remote).length > 0) fail("A10 members", `${metadata.name} pushed`);
  const answered = remote.notes(iid).some(({ body }) => body.includes(`answer=${metadata.uid} `));
  if (answered || remote.awards.has(spec.note.id)) fail("A10 members", `${metadata.name} of a stranger was answered`);
}

function checkCommits({ metadata, spec, status }: CodingTask, remote: AgentRemote) {
  const branch = spec.type === "Issue" ? spec.branch : spec.mergeRequest.sourceBranch;
  const made = commitsFor(metadata.uid ?? "", branch, remote);
  if (made.length > 1) fail("A2 once", `${metadata.name} pushed ${made.length} commits`);
  if (status?.phase !== "Completed" || status.result?.commitSha === undefined) return;
  if (made[0]?.sha !== status.result.commitSha) fail("A2 true", `${metadata.name} says it pushed what is not there`);
}

function commitsFor(uid: string, branch: string, remote: AgentRemote) {
  return remote
    .history(remote.branches.get(branch))
    .filter(({ message }) => message.includes(`Interlock-Task: ${uid}`));
}

function checkAnswers({ metadata, spec, status }: CodingTask, remote: AgentRemote) {
  if (spec.type !== "Command") return;
  const answers = remote.notes(spec.mergeRequest.iid).filter(({ body }) => body.includes(`answer=${metadata.uid} `));
  if (answers.length > 1) fail("A3 one answer", `${metadata.name} was answered ${answers.length} times`);
  const text = answers[0]?.body ?? "";
  const isFinal = !text.startsWith("⏳");
  if (status?.phase === "Completed" && (!text || !isFinal)) fail("A3 answered", `${metadata.name}: "${text}"`);
  if (status?.phase === "Failed" && !text.startsWith("❌"))
    fail("A3 explained", `${metadata.name} failed, and its text is "${text}"`);
  if (!isFinal) fail("A3 final", `${metadata.name} is ${status?.phase}, and still says "${text}"`);
}

function checkReview({ metadata, spec, status }: CodingTask, remote: AgentRemote) {
  if (spec.type !== "Review") return;
  const notes = remote.notes(spec.mergeRequest.iid);
  const count = status?.phase === "Completed" ? (status.result?.comments ?? 0) : 0;
  for (let n = 0; n < Math.max(count, 4); n++) {
    const answered = notes.filter(({ body }) => body.includes(`finding=${metadata.uid}/${n} `)).length;
    if (answered > 1) fail("A4 once", `finding ${n} of ${metadata.name} was posted ${answered} times`);
    if (n < count && answered === 0) fail("A4 posted", `finding ${n} of ${metadata.name} was not posted`);
  }
}

function checkSummaries(tasks: readonly CodingTask[], remote: AgentRemote) {
  for (const [iid, { headSha = "" }] of remote.mergeRequests) {
    const summaries = remote.notes(iid).filter(({ body }) => reviewedIn(body));
    if (summaries.length > 1) fail("A5 one summary", `!${iid} has ${summaries.length}`);
    const ofHead = tasks.filter(({ spec }) => {
      return spec.type === "Review" && spec.mergeRequest.iid === iid && spec.mergeRequest.headSha === headSha;
    });
    if (ofHead.length === 0 || ofHead.some(({ status }) => ["Failed", "Cancelled"].includes(status?.phase ?? "")))
      continue;
    const shas = reviewedIn(summaries[0]?.body ?? "") ?? [];
    if (!shas.includes(headSha)) fail("A5 head", `the head of !${iid} was never reviewed`);
  }
}

function checkIssue({ metadata, spec, status }: CodingTask, remote: AgentRemote) {
  if (spec.type !== "Issue") return;
  const { moves = [], comments = [] } = remote.issues.get(spec.issue.key) ?? {};
  const requests = [...remote.mergeRequests.values()].filter(({ sourceBranch }) => sourceBranch === spec.branch);
  if (requests.length > 1) fail("A6 one MR", `${spec.issue.key} has ${requests.length}`);
  if (comments.length > 1) fail("A6 one comment", `${spec.issue.key} has ${comments.length}`);
  if (new Set(moves).size !== moves.length) fail("A6 moves", `${spec.issue.key} went ${moves.join(", ")}`);
  if (status?.phase !== "Completed") return;
  if (moves.join() !== `${statuses.inProgress},${statuses.inReview}`) {
    fail("A6 path", `${metadata.name} is done, and its issue went ${moves.join(", ")}`);
  }
  if (requests.length !== 1) fail("A6 MR", `${metadata.name} is done without a merge request`);
}

/** Of two comments on one branch, of which the first needed one try alone, the first is applied first. */
function checkOrder(tasks: readonly CodingTask[], remote: AgentRemote, events: readonly LedgerEvent[]) {
  const begun = new Set(events.map(({ id }) => id).filter((id) => id.includes("/task.started/")));
  const triesOf = ({ metadata }: CodingTask) => [...begun].filter((id) => id.startsWith(`${metadata.uid}/`)).length;
  for (const [iid, { sourceBranch }] of remote.mergeRequests) {
    const history = remote.history(remote.branches.get(sourceBranch)).toReversed();
    const at = ({ metadata }: CodingTask) => history.findIndex(({ message }) => message.includes(metadata.uid ?? "-"));
    const applied = tasks
      .filter(({ spec }) => spec.type === "Command" && spec.mergeRequest.iid === iid)
      .filter((task) => at(task) >= 0)
      .sort((a, b) => noteOf(a) - noteOf(b));
    for (const [i, first] of applied.entries()) {
      if (triesOf(first) > 1) continue;
      const overtaken = applied.slice(i + 1).find((later) => at(later) < at(first));
      if (overtaken) fail("A7 order", `${noteOf(overtaken)} was applied before ${noteOf(first)}`);
    }
  }
}

function noteOf({ spec }: CodingTask): number {
  return spec.type === "Command" ? spec.note.id : 0;
}

function fail(rule: string, what: string): never {
  throw new Violation(rule, what);
}
