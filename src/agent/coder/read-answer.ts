import { parseJson, z } from "../../schema/index.ts";
import { cleanCommitMessage, cleanEnd, cleanSuggestion, cleanText } from "./clean-text.ts";
import type { CoderRequest, Finding } from "./coder.ts";

/** The coder's result, checked; `bad`: a sentence that describes the expected result. */
export type CoderResult =
  | { readonly kind: "review"; readonly summary: string; readonly findings: readonly Finding[] }
  | { readonly kind: "edit"; readonly summary: string; readonly commitMessage?: string }
  | { readonly kind: "bad"; readonly message: string };

const maxLength = { summary: 10_000, message: 4_000, suggestion: 10_000, commitMessage: 4_000, path: 1_024 } as const;
const maxFindings = 100;

/**
 * Reads the result from the coder's standard output. That may be JSON alone, JSON after or between other text, fenced or
 * not, or in the envelope of a command line tool. The last one counts. For an edit, plain text is a result too.
 */
export function readAnswer(kind: CoderRequest["kind"], output: string, secrets: readonly string[]): CoderResult {
  const values = jsonIn(output);
  const { error, text } = openEnvelope(values.at(-1));
  if (error !== undefined) {
    return { kind: "bad", message: `the coder reported an error: ${cleanText(error, 500, secrets)}` };
  }
  if (text !== undefined) return readAnswer(kind, text, secrets);
  return kind === "review" ? readReview(values, output, secrets) : readEdit(values, output, secrets);
}

const optionalText = z.string().optional().catch(undefined);

/** Tools that can print JSON put the text of the model into a field of theirs. */
const envelopeSchema = z.looseObject({
  is_error: z.boolean().catch(false),
  result: optionalText,
  response: optionalText,
  error: z
    .union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)])
    .optional()
    .catch(undefined),
});

function openEnvelope(value: unknown): { readonly error?: string | undefined; readonly text?: string | undefined } {
  const { data } = envelopeSchema.safeParse(value);
  if (!data) return {};
  if (data.is_error) return { error: data.result ?? "no reason given" };
  if ("summary" in data || "findings" in data) return {};
  return { error: data.error, text: data.result ?? data.response };
}

const reviewSchema = z.union([
  z.array(z.unknown()).transform((findings) => ({ summary: "", findings })),
  z
    .object({ summary: optionalText, findings: z.array(z.unknown()).optional().catch(undefined) })
    .refine(({ summary, findings }) => summary !== undefined || findings !== undefined)
    .transform(({ summary = "", findings = [] }) => ({ summary, findings })),
]);

function readReview(values: readonly unknown[], output: string, secrets: readonly string[]): CoderResult {
  const review = findLast(values, reviewSchema);
  const found = (review?.findings ?? []).flatMap((item) => readFinding(item, secrets) ?? []);
  if (!review || (review.findings.length > 0 && found.length === 0)) {
    return { kind: "bad", message: expectedReview(output, secrets) };
  }
  const findings = found.slice(0, maxFindings);
  const given = review.findings.length;
  const leftOut = given - findings.length;
  const note = leftOut > 0 ? `(${leftOut} of ${given} findings were left out: incomplete, or too many.)` : "";
  const summary = cleanText(review.summary, maxLength.summary, secrets);
  return { kind: "review", summary: [summary, note].filter(Boolean).join("\n\n"), findings };
}

function expectedReview(output: string, secrets: readonly string[]): string {
  const expected =
    'the coder has to end its output with {"summary": "…", "findings": [{"path": "…", "line": 1, "severity": "error|warning|info", "message": "…"}]}';
  const end = cleanEnd(output, 300, secrets);
  return end === "" ? `${expected}; it wrote nothing` : `${expected}; it wrote: ${end}`;
}

const severities = new Map<string, Finding["severity"]>([
  ...["error", "critical", "blocker", "high", "major"].map((word) => [word, "error"] as const),
  ...["warning", "warn", "medium", "minor"].map((word) => [word, "warning"] as const),
]);

/** A path within the repository. It is only ever compared with those of the change. */
const pathSchema = z
  .string()
  .transform((path) => path.replace(/^(\.\/)+/, ""))
  .pipe(z.string().min(1).max(maxLength.path))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
  .refine((path) => !path.startsWith("/") && !path.split("/").includes("..") && !/[\u0000-\u001f\u007f]/.test(path));

const findingSchema = z.preprocess(
  (value) => {
    const { data } = z.looseObject({}).safeParse(value);
    return data && { ...data, path: data["path"] ?? data["file"], message: data["message"] ?? data["comment"] };
  },
  z.object({
    path: pathSchema,
    line: z.coerce.number().int().min(1),
    side: z.enum(["new", "old"]).catch("new"),
    severity: z
      .string()
      .catch("")
      .transform((word) => severities.get(word.toLowerCase()) ?? "info"),
    message: z.string(),
    suggestion: optionalText,
  }),
);

/** Undefined for a finding without a usable path or message. */
function readFinding(value: unknown, secrets: readonly string[]): Finding | undefined {
  const { data } = findingSchema.safeParse(value);
  if (!data) return undefined;
  const { suggestion, ...finding } = data;
  const message = cleanText(finding.message, maxLength.message, secrets);
  if (message === "") return undefined;
  const lines = suggestion === undefined ? undefined : cleanSuggestion(suggestion, maxLength.suggestion, secrets);
  return { ...finding, message, ...(lines !== undefined && { suggestion: lines }) };
}

const editSchema = z.object({ summary: z.string(), commitMessage: optionalText });

function readEdit(values: readonly unknown[], output: string, secrets: readonly string[]): CoderResult {
  const edit = findLast(values, editSchema) ?? { summary: output, commitMessage: undefined };
  const summary = cleanText(edit.summary, maxLength.summary, secrets);
  const message = cleanCommitMessage(edit.commitMessage ?? "", maxLength.commitMessage, secrets);
  return {
    kind: "edit",
    summary: summary || "The coder gave no summary.",
    ...(message && { commitMessage: message }),
  };
}

/** The last value that fits the schema. */
function findLast<S extends z.ZodType>(values: readonly unknown[], schema: S): z.output<S> | undefined {
  for (const value of values.toReversed()) {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
  }
  return undefined;
}

/** Returns every JSON object and array that begins a line of the text and is not inside another, in order. */
function jsonIn(text: string): readonly unknown[] {
  const found: unknown[] = [];
  // Untrusted text may have any number of opening brackets without an end.
  let budget = 32 * text.length;
  const beginning = /^[ \t]*(?=[{[])/gm;
  for (let match = beginning.exec(text); match && budget > 0; match = beginning.exec(text)) {
    const start = match.index + match[0].length;
    const end = findEnd(text, start);
    budget -= (end ?? text.length) - start;
    const value = end === undefined ? undefined : parseJson(text.slice(start, end));
    beginning.lastIndex = value === undefined ? start + 1 : (end ?? start + 1);
    if (value !== undefined) found.push(value);
  }
  return found;
}

/** Returns the index after the bracket that closes the one at `start`. */
function findEnd(text: string, start: number): number | undefined {
  let depth = 0;
  let quoted = false;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (quoted && character === "\\") index++;
    else if (character === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return index + 1;
  }
  return undefined;
}
