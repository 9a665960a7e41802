import type { End } from "../end.ts";
import { markers } from "../markers.ts";
import type { Attempt, CommandAttempt, IssueAttempt, ReviewAttempt } from "../work/attempt.ts";
import { postOrChange } from "../work/post-once.ts";
import { reply } from "./command.ts";
import { comment } from "./issue.ts";

type Bad = Extract<End, { kind: "failed" | "cancelled" }>;

/** Tells people, where they asked, that a task came to nothing, and what to do. Once: it changes what was said before. */
export async function report(attempt: Attempt, bad: Bad): Promise<void> {
  const { spec } = attempt;
  // What is quoted may end with a full stop, and so do our sentences.
  const end = { ...bad, message: bad.message.replace(/\.$/, "") };
  switch (spec.type) {
    case "Review": {
      // Nobody asked for it and nobody waits for it.
      if (end.kind === "cancelled") return;
      const body = `⚠️ Automated review failed: ${end.message}.\n\nWrite \`/copilot retry\` to have it tried again.`;
      return postOrChange(attempt as ReviewAttempt, { mark: markers.answer(attempt.uid), body });
    }
    case "Command":
      return reply(attempt as CommandAttempt, commandText(end));
    case "Issue":
      return reportOnIssue(attempt as IssueAttempt, end);
  }
}

function commandText({ kind, message }: Bad): string {
  if (kind === "cancelled") return `🛑 ${message}.`;
  return `❌ This could not be done: ${message}.\n\nWrite \`/copilot retry\` to have it tried again.`;
}

async function reportOnIssue(attempt: IssueAttempt, { kind, message }: Bad): Promise<void> {
  const { spec, settings } = attempt;
  const { trigger } = settings.statusesOf(spec.issue.key);
  const how = `Move the issue back to ${trigger} to have it tried again.`;
  await comment(
    attempt,
    `⚠️ Automated implementation ${kind === "failed" ? "failed" : "stopped"}: ${message}.\n\n${how}`,
  );
}
