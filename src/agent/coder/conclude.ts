import { findSecret, withoutSecrets } from "../../telemetry/index.ts";
import { parsePatch } from "../git/parse-patch.ts";
import type { PatchReading } from "../git/workshop.ts";
import { cleanEnd } from "./clean-text.ts";
import type { CoderFailure, CoderOutcome, CoderRequest } from "./coder.ts";
import { readAnswer } from "./read-answer.ts";

/** Failures that a retry with the same settings and the same request cannot avoid. */
const permanent: ReadonlySet<CoderFailure> = new Set(["NotStarted", "OutputTooLarge", "WorkTreeTooLarge"]);

export function coderFailure(reason: CoderFailure, message: string): CoderOutcome {
  return { kind: "failed", reason, message, retry: !permanent.has(reason) };
}

/** Describes how the coder ended, with the end of its output. */
export function describeExit(
  how: string,
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
  secrets: readonly string[],
): string {
  const output = cleanEnd(stderr.trim() || stdout.trim(), 500, secrets);
  return `The coder ${how}${output ? `: ${output}` : " and wrote nothing"}`;
}

/** Returns the outcome of a coder that exited with code 0. `change` is called only for an edit with a valid result. */
export async function toOutcome(
  kind: CoderRequest["kind"],
  output: string,
  { secrets, change }: { readonly secrets: readonly string[]; readonly change: () => Promise<PatchReading> },
): Promise<CoderOutcome> {
  const answer = readAnswer(kind, output, secrets);
  switch (answer.kind) {
    case "bad":
      return coderFailure("BadAnswer", answer.message);
    case "review":
      return { kind: "reviewed", summary: answer.summary, findings: answer.findings };
    case "edit": {
      const { summary, commitMessage } = answer;
      const patch = refuseSecrets(await change(), secrets);
      return { kind: "edited", summary, ...(commitMessage && { commitMessage }), change: patch };
    }
  }
}

/**
 * Refuses a patch that adds a secret to a file: a push would publish it. Removed and unchanged lines are not checked,
 * so a secret can be removed from a repository.
 */
export function refuseSecrets(reading: PatchReading, secrets: readonly string[]): PatchReading {
  if (reading.kind !== "patch") return reading;
  const parsed = parsePatch(reading.patch.bytes);
  if (parsed.kind === "problem") {
    return { kind: "refused", reason: "Unreadable", message: `the patch is unreadable: ${parsed.problem}` };
  }
  for (const { path, text } of parsed.added) {
    const what = findSecret(Buffer.from(text, "latin1").toString(), secrets) ?? findSecret(path, secrets);
    if (what === undefined) continue;
    const where = withoutSecrets(path, secrets);
    const fix = "revoke it if it is real; a person has to commit a text that must stay in the repository";
    return { kind: "refused", reason: "Secret", message: `the change to ${where} contains ${what}; ${fix}` };
  }
  return reading;
}
