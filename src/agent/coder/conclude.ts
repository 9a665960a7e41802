import type { PatchReading } from "../git/workshop.ts";
import type { CoderFailure, CoderOutcome, CoderRequest } from "./coder.ts";
import { readAnswer } from "./read-answer.ts";
import { refuseSecrets } from "./refuse-secrets.ts";

/** Failures that a retry with the same settings and the same request cannot avoid. */
const hopeless: ReadonlySet<CoderFailure> = new Set(["NotStarted", "OutputTooLarge", "WorkTreeTooLarge"]);

export function failed(reason: CoderFailure, message: string): CoderOutcome {
  return { kind: "failed", reason, message, retry: !hopeless.has(reason) };
}

/** Returns the outcome of a coder that exited with code 0. `change` is called only for an edit with a valid result. */
export async function conclude(
  asked: CoderRequest["kind"],
  output: string,
  { secrets, change }: { readonly secrets: readonly string[]; readonly change: () => Promise<PatchReading> },
): Promise<CoderOutcome> {
  const answer = readAnswer(asked, output, secrets);
  switch (answer.kind) {
    case "bad":
      return failed("BadAnswer", answer.message);
    case "review":
      return { kind: "reviewed", summary: answer.summary, findings: answer.findings };
    case "edit": {
      const { summary, commitMessage } = answer;
      const patch = refuseSecrets(await change(), secrets);
      return { kind: "edited", summary, ...(commitMessage && { commitMessage }), change: patch };
    }
  }
}
