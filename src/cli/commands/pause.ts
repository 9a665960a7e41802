import { exitStatus, type ServerContext } from "../command.ts";
import { pauseScopes } from "../declare/declare.ts";
import { forEachName } from "../for-each-name.ts";
import { bareName } from "../parsing/kinds.ts";
import { performOperation } from "../perform-operation.ts";

interface PauseOptions {
  readonly reason: string;
  readonly for?: string;
  readonly dryRun?: boolean;
}

/** `interlock pause` */
export async function pause(context: ServerContext, scope: readonly string[], options: PauseOptions): Promise<void> {
  const { reason, dryRun } = options;
  await performOperation("pause", { scope, reason, for: options.for, dryRun }, context);
}

interface ResumeOptions {
  readonly reason: string;
  readonly dryRun?: boolean;
}

/** `interlock resume` */
export async function resume(context: ServerContext, args: readonly string[], options: ResumeOptions): Promise<number> {
  const { reason, dryRun } = options;
  if (!pauseScopes.includes(args[0] ?? "")) {
    return forEachName(args, context, async (name) => {
      await performOperation("resume", { object: bareName(name), reason, dryRun }, context);
    });
  }
  await performOperation("resume", { scope: args, reason, dryRun }, context);
  return exitStatus("ok");
}
