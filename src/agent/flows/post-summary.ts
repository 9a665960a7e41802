import type { Finding } from "../coder/coder.ts";
import type { Note } from "../gitlab/gitlab.ts";
import { markers, reviewedIn, withoutMarks } from "../markers.ts";
import type { ReviewAttempt } from "../work/attempt.ts";
import { keepOldest, postOnce } from "../work/post-once.ts";

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
    const body = summaryText(reviewed, shas);
    const find = (own: readonly Note[]) =>
      keepOldest(
        attempt,
        own.filter(({ body }) => reviewedIn(body)),
      );
    const add = () => conversation.addNote(body, undefined, signal);
    const note = await postOnce(attempt, find, add, own);
    if (note.body === body || (await conversation.changeNote(note, body, signal))) return { note: String(note.id) };
    // A person deleted it since it was read.
    return { note: String((await postOnce(attempt, find, add)).id) };
  });
}

function summaryText({ summary, findings }: Reviewed, shas: readonly string[]): string {
  const [newest = "", ...earlier] = shas.map((sha) => sha.slice(0, 8));
  const lines = [
    "## Code Review Summary",
    withoutMarks(summary) || "Nothing to add.",
    `${countFindings(findings)} in ${newest}.`,
    ...(earlier.length === 0 ? [] : [`Reviewed before: ${earlier.join(", ")}.`]),
    markers.summary(shas),
  ];
  return lines.join("\n\n");
}

function countFindings(findings: readonly Finding[]): string {
  if (findings.length === 0) return "No findings";
  const of = (severity: Finding["severity"]) => findings.filter((one) => one.severity === severity).length;
  const parts = [`${of("error")} errors`, `${of("warning")} warnings`, `${of("info")} remarks`];
  return `${findings.length} findings (${parts.join(", ")})`;
}
