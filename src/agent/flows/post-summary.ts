import type { Finding } from "../coder/coder.ts";
import type { Note } from "../gitlab/gitlab.ts";
import { markers, reviewedIn } from "../markers.ts";
import { toNoteText } from "../note-text.ts";
import type { ReviewAttempt } from "../work/attempt.ts";
import { postOrChange } from "../work/post-once.ts";

interface Reviewed {
  readonly summary: string;
  readonly findings: readonly Finding[];
}

/** The maximum number of commits that the note lists. */
const maxRemembered = 20;

/** Keeps one note per merge request with the result of the newest review and the commits that were reviewed before. */
export async function postSummary(attempt: ReviewAttempt, reviewed: Reviewed): Promise<void> {
  const { conversation, progress, signal, spec } = attempt;
  await progress.step("summary", async () => {
    const own = await conversation.ownNotes(signal);
    const earlier = own.flatMap(({ body }) => reviewedIn(body) ?? []);
    const shas = [...new Set([spec.mergeRequest.headSha, ...earlier])].slice(0, maxRemembered);
    const isSame = ({ body }: Note) => reviewedIn(body) !== undefined;
    const note = await postOrChange(attempt, { text: summaryText(reviewed, shas), isSame }, own);
    return { note: String(note.id) };
  });
}

function summaryText({ summary, findings }: Reviewed, shas: readonly string[]): string {
  const [newest = "", ...earlier] = shas.map((sha) => sha.slice(0, 8));
  const lines = [
    "## Code Review Summary",
    toNoteText(summary) || "Nothing to add.",
    `${countFindings(findings)} in ${newest}.`,
    ...(earlier.length === 0 ? [] : [`Reviewed before: ${earlier.join(", ")}.`]),
    markers.summary(shas),
  ];
  return lines.join("\n\n");
}

const severityNames = { error: "error", warning: "warning", info: "remark" } as const;

function countFindings(findings: readonly Finding[]): string {
  if (findings.length === 0) return "No findings";
  const parts = Object.entries(severityNames).flatMap(([severity, name]) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [countNoun(count, name)];
  });
  return `${countNoun(findings.length, "finding")} (${parts.join(", ")})`;
}

function countNoun(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
