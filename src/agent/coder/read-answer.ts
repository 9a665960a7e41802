import { cleanCommitMessage, cleanEnd, cleanSuggestion, cleanText } from "./clean-text.ts";
import type { CoderRequest, Finding } from "./coder.ts";
import { jsonIn } from "./json-in.ts";

/** What the agent said, checked; `bad`: a sentence that says what was expected instead. */
export type CoderResult =
  | { readonly kind: "review"; readonly summary: string; readonly findings: readonly Finding[] }
  | { readonly kind: "edit"; readonly summary: string; readonly commitMessage?: string }
  | { readonly kind: "bad"; readonly message: string };

const longest = { summary: 10_000, message: 4_000, suggestion: 10_000, commitMessage: 4_000, path: 1_024 } as const;
const maxFindings = 100;

/**
 * The answer in what the agent wrote to its standard output. That may be JSON alone, JSON after or between other text,
 * fenced or not, or in the envelope of a command line tool. The last one counts. To a request to edit, plain text is an
 * answer too.
 */
export function readAnswer(asked: CoderRequest["kind"], output: string, secrets: readonly string[]): CoderResult {
  const values = jsonIn(output);
  const complaint = errorIn(values.at(-1));
  if (complaint !== undefined) {
    return { kind: "bad", message: `the coding agent reported an error: ${cleanText(complaint, 500, secrets)}` };
  }
  const wrapped = envelopeText(values.at(-1));
  if (wrapped !== undefined) return readAnswer(asked, wrapped, secrets);
  return asked === "review" ? readReview(values, output, secrets) : readEdit(values, output, secrets);
}

type ResultFields = Readonly<Record<string, unknown>>;

/** Tools that can print JSON put what the model said into a field of theirs. */
function envelopeText(value: unknown): string | undefined {
  if (!isFields(value) || "summary" in value || "findings" in value) return undefined;
  return [value["result"], value["response"]].find((text) => typeof text === "string");
}

function errorIn(value: unknown): string | undefined {
  if (!isFields(value)) return undefined;
  const { is_error: isError, result, error } = value;
  if (isError === true) return typeof result === "string" ? result : "no reason given";
  if ("summary" in value || "findings" in value) return undefined;
  if (typeof error === "string") return error;
  return isFields(error) && typeof error["message"] === "string" ? error["message"] : undefined;
}

function readReview(values: readonly unknown[], output: string, secrets: readonly string[]): CoderResult {
  const value = values.findLast((candidate) => isList(candidate) || isReview(candidate));
  if (value === undefined) return { kind: "bad", message: expectedReview(output, secrets) };
  const fields: ResultFields = isList(value) ? { findings: value } : (value as ResultFields);
  const given = isList(fields["findings"]) ? fields["findings"] : [];
  const findings = given.flatMap((item) => readFinding(item, secrets) ?? []);
  if (given.length > 0 && findings.length === 0) return { kind: "bad", message: expectedReview(output, secrets) };
  const kept = findings.slice(0, maxFindings);
  const said = cleanText(textOf(fields["summary"]) ?? "", longest.summary, secrets);
  const leftOut = given.length - kept.length;
  const note = leftOut > 0 ? `(${leftOut} of ${given.length} findings were left out: incomplete, or too many.)` : "";
  return { kind: "review", summary: [said, note].filter(Boolean).join("\n\n"), findings: kept };
}

function isReview(value: unknown): boolean {
  return isFields(value) && (isList(value["findings"]) || typeof value["summary"] === "string");
}

function expectedReview(output: string, secrets: readonly string[]): string {
  const expected =
    'the coding agent has to end its output with {"summary": "…", "findings": [{"path": "…", "line": 1, "severity": "error|warning|info", "message": "…"}]}';
  const end = cleanEnd(output, 300, secrets);
  return end === "" ? `${expected}; it said nothing` : `${expected}; it said: ${end}`;
}

const severities: Readonly<Record<string, Finding["severity"]>> = {
  ...{ error: "error", critical: "error", blocker: "error", high: "error", major: "error" },
  ...{ warning: "warning", warn: "warning", medium: "warning", minor: "warning" },
};

/** Undefined for one that cannot be placed or says nothing. */
function readFinding(value: unknown, secrets: readonly string[]): Finding | undefined {
  if (!isFields(value)) return undefined;
  const path = readPath(value["path"] ?? value["file"]);
  const line = Number(value["line"]);
  const message = cleanText(textOf(value["message"] ?? value["comment"]) ?? "", longest.message, secrets);
  if (!path || !Number.isSafeInteger(line) || line < 1 || message === "") return undefined;
  const suggestion = textOf(value["suggestion"]);
  const lines = suggestion === undefined ? undefined : cleanSuggestion(suggestion, longest.suggestion, secrets);
  return {
    path,
    line,
    side: value["side"] === "old" ? "old" : "new",
    severity: severities[String(value["severity"]).toLowerCase()] ?? "info",
    message,
    ...(lines !== undefined && { suggestion: lines }),
  };
}

/** A path within the repository. It is only ever compared with those of the change. */
function readPath(value: unknown): string | undefined {
  const path = textOf(value)?.replace(/^(\.\/)+/, "");
  if (!path || path.length > longest.path || path.startsWith("/") || path.split("/").includes("..")) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return /[\u0000-\u001f\u007f]/.test(path) ? undefined : path;
}

function readEdit(values: readonly unknown[], output: string, secrets: readonly string[]): CoderResult {
  const value = values.findLast((candidate) => isFields(candidate) && typeof candidate["summary"] === "string");
  const fields: ResultFields = isFields(value) ? value : { summary: output };
  const summary = cleanText(textOf(fields["summary"]) ?? "", longest.summary, secrets);
  const message = cleanCommitMessage(textOf(fields["commitMessage"]) ?? "", longest.commitMessage, secrets);
  return {
    kind: "edit",
    summary: summary || "The coding agent gave no summary.",
    ...(message && { commitMessage: message }),
  };
}

function isFields(value: unknown): value is ResultFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
