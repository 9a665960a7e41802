import type { Ledger } from "../../ledger/index.ts";
import type { CodingTaskStatus, CodingTaskStep } from "../../resources/index.ts";
import type { Workshop } from "../git/workshop.ts";
import type { GitLab } from "../gitlab/gitlab.ts";
import type { Jira } from "../jira/jira.ts";

/** Removes secrets from text that is shown to people. */
export type Redact = (text: string) => Promise<string>;

/** GitLab, with secrets removed from all posted texts. */
export function redactedGitLab(gitlab: GitLab, redact: Redact): GitLab {
  return {
    ...gitlab,
    async createMergeRequest(projectId, draft, signal) {
      const [title, description] = [await redact(draft.title), await redact(draft.description)];
      return gitlab.createMergeRequest(projectId, { ...draft, title, description }, signal);
    },
    async startDiscussion(ref, draft, signal) {
      return gitlab.startDiscussion(ref, { ...draft, body: await redact(draft.body) }, signal);
    },
    async addNote(ref, body, discussionId, signal) {
      return gitlab.addNote(ref, await redact(body), discussionId, signal);
    },
    async changeNote(ref, noteId, body, signal) {
      await gitlab.changeNote(ref, noteId, await redact(body), signal);
    },
  };
}

/** Jira, with secrets removed from all comments. */
export function redactedJira(jira: Jira, redact: Redact): Jira {
  return {
    ...jira,
    async addComment(key, text, signal) {
      return jira.addComment(key, await redact(text), signal);
    },
    async changeComment(key, id, text, signal) {
      await jira.changeComment(key, id, await redact(text), signal);
    },
  };
}

/** Git, with secrets removed from commit messages. Patches with secrets are refused earlier. */
export function redactedWorkshop(workshop: Workshop, redact: Redact): Workshop {
  return {
    ...workshop,
    async commit(repository, draft, signal) {
      return workshop.commit(repository, { ...draft, message: await redact(draft.message) }, signal);
    },
  };
}

/** The ledger, with secrets removed from the messages of events. */
export function redactedLedger(ledger: Ledger, redact: Redact): Ledger {
  return {
    async append(event) {
      const { message } = event.facts;
      const facts = typeof message === "string" ? { ...event.facts, message: await redact(message) } : event.facts;
      await ledger.append({ ...event, facts });
    },
    close: () => ledger.close(),
  };
}

/** A task's status, with secrets removed from texts that people read. Findings are already clean, and are JSON. */
export async function redactedStatus(status: CodingTaskStatus, redact: Redact): Promise<CodingTaskStatus> {
  const { message, steps } = status;
  const common = {
    ...(message !== undefined && { message: await redact(message) }),
    ...(steps && { steps: await Promise.all(steps.map((step) => redactedStep(step, redact))) }),
  };
  if (status.phase === "Failed") {
    const { failure } = status;
    return { ...status, ...common, failure: { ...failure, message: await redact(failure.message) } };
  }
  if (status.phase === "Completed" && status.result?.summary !== undefined) {
    const { result } = status;
    return { ...status, ...common, result: { ...result, summary: await redact(status.result.summary) } };
  }
  return { ...status, ...common };
}

async function redactedStep(step: CodingTaskStep, redact: Redact): Promise<CodingTaskStep> {
  if (!step.result) return step;
  const entries = Object.entries(step.result).map(async ([name, value]) => {
    return [name, name === "findings" ? value : await redact(value)] as const;
  });
  return { ...step, result: Object.fromEntries(await Promise.all(entries)) };
}
