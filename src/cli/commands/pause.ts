import type { Desk } from "../command.ts";
import { forEachName } from "../for-each-name.ts";
import { bareName } from "../parsing/kinds.ts";
import { performAtDesk } from "../perform-at-desk.ts";

interface PauseOptions {
  readonly reason: string;
  readonly for?: string;
  readonly dryRun?: boolean;
}

/** `interlock pause` */
export async function pause(desk: Desk, scope: readonly string[], options: PauseOptions): Promise<number> {
  const { reason, for: length, dryRun } = options;
  const request = { scope, reason, ...(length !== undefined && { for: length }), ...(dryRun && { dryRun }) };
  await performAtDesk("pause", request, desk);
  return 0;
}

interface ResumeOptions {
  readonly reason: string;
  readonly dryRun?: boolean;
}

/** The words with which a scope begins. */
const scopeWords = ["all", "namespace", "target", "workflow"];

/** `interlock resume` */
export async function resume(desk: Desk, words: readonly string[], { reason, dryRun }: ResumeOptions): Promise<number> {
  const request = { reason, ...(dryRun && { dryRun }) };
  if (!scopeWords.includes(words[0] ?? "")) {
    return forEachName(words, desk, async (name) => {
      await performAtDesk("resume", { ...request, object: bareName(name) }, desk);
    });
  }
  await performAtDesk("resume", { ...request, scope: words }, desk);
  return 0;
}
