import type { Finding } from "../coder/coder.ts";
import type { MergeRequestRef } from "../gitlab/gitlab.ts";
import { markers, reviewedIn, withoutMarks } from "../markers.ts";
import type { ReviewAttempt } from "../work/attempt.ts";
import { onlyFirst, readOwnNotes, sayOnce } from "../work/say.ts";

interface Reviewed {
  readonly summary: string;
  readonly findings: readonly Finding[];
}

/** As many earlier commits as the note remembers. */
const maxRemembered = 20;

/** One note per merge request, which says what the newest review found and which commits were reviewed before. */
export async function postSummary(attempt: ReviewAttempt, place: MergeRequestRef, reviewed: Reviewed): Promise<void> {
  const { gitlab, journal, signal, spec } = attempt;
  await journal.step("summary", async () => {
    const summaries = async () => {
      const own = await readOwnNotes(gitlab, place, signal);
      return own.filter(({ body }) => reviewedIn(body));
    };
    const earlier = (await summaries()).flatMap(({ body }) => reviewedIn(body) ?? []);
    const shas = [...new Set([spec.mergeRequest.headSha, ...earlier])].slice(0, maxRemembered);
    const body = textOf(reviewed, shas);
    const find = async () => onlyFirst(attempt, place, await summaries());
    const said = await sayOnce(attempt, find, () => gitlab.addNote(place, body, undefined, signal));
    if (said.body !== body) await gitlab.changeNote(place, said.id, body, signal);
    return { note: String(said.id) };
  });
}

function textOf({ summary, findings }: Reviewed, shas: readonly string[]): string {
  const [newest = "", ...earlier] = shas.map((sha) => sha.slice(0, 8));
  const lines = [
    "## Code Review Summary",
    withoutMarks(summary) || "Nothing to add.",
    `${counted(findings)} in ${newest}.`,
    ...(earlier.length === 0 ? [] : [`Reviewed before: ${earlier.join(", ")}.`]),
    markers.summary(shas),
  ];
  return lines.join("\n\n");
}

function counted(findings: readonly Finding[]): string {
  if (findings.length === 0) return "No findings";
  const of = (severity: Finding["severity"]) => findings.filter((one) => one.severity === severity).length;
  const parts = [`${of("error")} errors`, `${of("warning")} warnings`, `${of("info")} remarks`];
  return `${findings.length} findings (${parts.join(", ")})`;
}
