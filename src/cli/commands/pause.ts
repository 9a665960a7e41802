import type { ServerContext } from "../command.ts";
import { forEachName } from "../for-each-name.ts";
import { bareName } from "../parsing/kinds.ts";
import { performOperation } from "../perform-operation.ts";

interface PauseOptions {
  readonly reason: string;
  readonly for?: string;
  readonly dryRun?: boolean;
}

/** `interlock pause` */
export async function pause(context: ServerContext, scope: readonly string[], options: PauseOptions): Promise<number> {
  const { reason, for: length, dryRun } = options;
  const request = { scope, reason, ...(length !== undefined && { for: length }), ...(dryRun && { dryRun }) };
  await performOperation("pause", request, context);
  return 0;
}

interface ResumeOptions {
  readonly reason: string;
  readonly dryRun?: boolean;
}

/** The first argument of a scope. */
const scopeKinds = ["all", "namespace", "target", "workflow"];

/** `interlock resume` */
export async function resume(
  context: ServerContext,
  args: readonly string[],
  { reason, dryRun }: ResumeOptions,
): Promise<number> {
  const request = { reason, ...(dryRun && { dryRun }) };
  if (!scopeKinds.includes(args[0] ?? "")) {
    return forEachName(args, context, async (name) => {
      await performOperation("resume", { ...request, object: bareName(name) }, context);
    });
  }
  await performOperation("resume", { ...request, scope: args }, context);
  return 0;
}
