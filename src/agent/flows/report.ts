import type { End } from "../end.ts";
import type { Attempt, CommandAttempt, IssueAttempt, ReviewAttempt } from "../work/attempt.ts";
import { postAnswer } from "../work/post-once.ts";
import { reply } from "./command.ts";
import { postComment } from "./issue.ts";

type UnsuccessfulEnd = Extract<End, { kind: "failed" | "cancelled" }>;

/** Reports the failure or the cancellation of a task where it was requested, in the one note of the task. */
export async function reportEnd(attempt: Attempt, unsuccessful: UnsuccessfulEnd): Promise<void> {
  const { spec } = attempt;
  // A quoted message may end with a full stop, as our sentences do.
  const end = { ...unsuccessful, message: unsuccessful.message.replace(/\.$/, "") };
  switch (spec.type) {
    case "Review": {
      // A review that was not requested needs no note about its cancellation.
      if (end.kind === "cancelled") return;
      const body = `⚠️ Automated review failed: ${end.message}.\n\nWrite \`/copilot retry\` to retry.`;
      return postAnswer(attempt as ReviewAttempt, body);
    }
    case "Command":
      return reply(attempt as CommandAttempt, commandText(end));
    case "Issue":
      return reportOnIssue(attempt as IssueAttempt, end);
  }
}

function commandText({ kind, message }: UnsuccessfulEnd): string {
  if (kind === "cancelled") return `🛑 ${message}.`;
  return `❌ Failed: ${message}.\n\nWrite \`/copilot retry\` to retry.`;
}

async function reportOnIssue(attempt: IssueAttempt, { kind, message }: UnsuccessfulEnd): Promise<void> {
  const { spec, settings } = attempt;
  const { trigger } = settings.statusesOf(spec.issue.key);
  const how = `Move the issue back to ${trigger} to retry.`;
  await postComment(
    attempt,
    `⚠️ Automated implementation ${kind === "failed" ? "failed" : "stopped"}: ${message}.\n\n${how}`,
  );
}
