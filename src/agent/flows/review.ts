import { type CodingTaskSpec, coderStep } from "../../resources/index.ts";
import { claimKeys, type TaskDraft } from "../../tasks/index.ts";
import { sleep } from "../../time/index.ts";
import type { CoderOutcome, Finding, ReviewRequest } from "../coder/coder.ts";
import { type End, failedEnd, supersededEnd } from "../end.ts";
import type { Changes, MergeRequest, MergeRequestRef, Note, Project } from "../gitlab/gitlab.ts";
import { reviewedIn } from "../markers.ts";
import { type Attempt, mergeRequestRef, type ReviewAttempt, type SpecOf } from "../work/attempt.ts";
import { checkAccess, type Requester } from "./check-access.ts";
import { postFindings } from "./post-findings.ts";
import { postSummary } from "./post-summary.ts";

/**
 * Reviews one commit of a merge request: the coder reads it, its findings become discussions, and one summary note
 * is kept current. The findings are recorded before anything is posted, so a second try posts the same.
 */
export async function runReview(attempt: ReviewAttempt): Promise<End> {
  const { spec, gitlab, conversation, progress, signal } = attempt;
  const ref = mergeRequestRef(spec);
  // Each request to GitLab can take long: independent ones are sent at once.
  const [mergeRequest, discussions, { id: selfId }] = await Promise.all([
    gitlab.mergeRequest(ref, signal),
    conversation.discussions(signal),
    gitlab.self(signal),
  ]);
  const refusal = await checkCurrent(attempt, mergeRequest);
  if (refusal) return refusal;

  const own = discussions.flatMap(({ notes }) => notes).filter(({ author, system }) => author.id === selfId && !system);
  const isBegun = progress.resultOf(coderStep) !== undefined;
  if (!spec.again && !isBegun && isReviewed(own, spec.mergeRequest.headSha)) {
    return { kind: "completed", message: "this commit is already reviewed" };
  }

  const [changes, project] = await Promise.all([awaitChanges(attempt, ref), gitlab.project(spec.project.id, signal)]);
  if (!changes) return failedEnd("ChangesMissing", "GitLab has not computed the changes of the merge request", true);
  const context = { project, mergeRequest, changes, earlierFindings: earlierFindings(own) };
  const found = await findings(attempt, context);
  if (found.kind === "failed") return failedEnd(found.reason, found.message, found.retry);

  // The coder takes minutes: a review of a commit that is no longer the newest is not posted.
  const meanwhile = await checkCurrent(attempt, await gitlab.mergeRequest(ref, signal));
  if (meanwhile) return meanwhile;
  const comments = await postFindings(attempt, changes, found.findings);
  await postSummary(attempt, found);
  const { length } = found.findings;
  const message = `reviewed, ${length === 1 ? "1 finding" : `${length || "no"} findings`}`;
  return { kind: "completed", message, result: { summary: found.summary, comments } };
}

/** Returns the user who requested the review, or else the author of the merge request, as GitLab reports it. */
function findRequester({ requesterId, requestedBy }: SpecOf<"Review">, { author }: MergeRequest): Requester {
  if (requesterId === undefined) return { user: author, isRequested: false };
  return { user: { id: requesterId, username: requestedBy ?? "" }, isRequested: true };
}

/** Returns why nothing is posted; called before and after the coder runs, because access, state and head may change. */
async function checkCurrent(attempt: ReviewAttempt, mergeRequest: MergeRequest): Promise<End | undefined> {
  const { spec } = attempt;
  const { state, headSha } = mergeRequest;
  const refusal = await checkAccess(attempt, mergeRequest, findRequester(spec, mergeRequest));
  if (refusal) return refusal;
  if (state !== "opened") return { kind: "completed", message: `not reviewed: the merge request is ${state}` };
  if (headSha === spec.mergeRequest.headSha) return undefined;
  if (headSha === undefined) return failedEnd("NoCommits", "the merge request has no commit", true);
  await reviewHead(attempt, headSha);
  return supersededEnd(headSha);
}

function isReviewed(own: readonly Note[], sha: string): boolean {
  return own.some(({ body }) => reviewedIn(body)?.includes(sha) === true);
}

/** GitLab computes the changes in the background, usually within two seconds of the push. */
async function awaitChanges(
  { spec, gitlab, clock, signal }: ReviewAttempt,
  ref: MergeRequestRef,
): Promise<Changes | undefined> {
  for (const waitMs of [0, 1_000, 2_000, 4_000]) {
    if (waitMs > 0) await sleep(clock, waitMs, signal);
    const changes = await gitlab.changes(ref, signal);
    if (changes?.refs.headSha === spec.mergeRequest.headSha) return changes;
  }
  return undefined;
}

type ReviewOutcome = Exclude<CoderOutcome, { kind: "edited" }>;

/** The facts that the coder gets. */
interface ReviewContext {
  readonly project: Project;
  readonly mergeRequest: MergeRequest;
  readonly changes: Changes;
  readonly earlierFindings: readonly string[];
}

async function findings(attempt: ReviewAttempt, context: ReviewContext): Promise<ReviewOutcome> {
  const { progress } = attempt;
  const before = progress.resultOf(coderStep);
  if (before) {
    const findings = JSON.parse(before["findings"] ?? "[]") as readonly Finding[];
    return { kind: "reviewed", summary: before["summary"] ?? "", findings };
  }
  const outcome = await runCoder(attempt, context);
  if (outcome.kind === "edited") {
    return { kind: "failed", reason: "BadAnswer", message: "the coder edited instead of reviewing", retry: true };
  }
  if (outcome.kind === "reviewed") {
    const { summary, findings } = outcome;
    await progress.record(coderStep, { summary, findings: JSON.stringify(findings) });
  }
  return outcome;
}

async function runCoder(
  { spec, uid, coder, signal }: ReviewAttempt,
  { project, mergeRequest, changes: { refs, files }, earlierFindings }: ReviewContext,
): Promise<CoderOutcome> {
  const { title, description, sourceBranch, targetBranch } = mergeRequest;
  const request: ReviewRequest = {
    version: 1,
    kind: "review",
    project: { path: project.path, url: project.webUrl },
    mergeRequest: { title, description, sourceBranch, targetBranch },
    baseSha: refs.baseSha,
    headSha: refs.headSha,
    changes: files.map(({ newPath, diff }) => ({ path: newPath, diff })),
    earlierFindings,
  };
  // The branch of a fork is not in this project, but this ref is.
  const ref = `refs/merge-requests/${spec.mergeRequest.iid}/head`;
  const repository = { projectId: project.id, cloneUrl: project.cloneUrl };
  return coder.run({ taskUid: uid, request, repository, sha: refs.headSha, ref }, signal);
}

/** The findings of earlier reviews, as people read them. */
function earlierFindings(own: readonly Note[]): readonly string[] {
  return own
    .filter(({ body }) => body.includes("<!-- interlock finding="))
    .map(({ body }) => body.replace(/<!--.*?-->/gs, "").trim());
}

/**
 * Creates the review of the current head, in case no webhook reported it. The user who requested the older review did
 * not request this one: the access of the merge request's author decides.
 */
async function reviewHead(attempt: ReviewAttempt, headSha: string): Promise<void> {
  const { spec } = attempt;
  const key = { host: spec.project.host, ...mergeRequestRef(spec) };
  const { again: _, requesterId: __, ...rest } = spec;
  const claimKey = claimKeys.review(key, headSha);
  await addTask(attempt, { ...rest, claimKey, mergeRequest: { ...spec.mergeRequest, headSha } });
}

/** Creates a task that follows from another. Repeating it is harmless. */
export async function addTask({ intake, signal }: Attempt, spec: CodingTaskSpec): Promise<void> {
  const { targetResource: _, ...draft } = spec;
  const creation = await intake.create({ ...draft, source: "api", receivedTime: intake.now() } as TaskDraft, {
    signal,
  });
  if (creation.kind === "refused") throw new TypeError(`${spec.claimKey}: ${creation.problem}`);
}
