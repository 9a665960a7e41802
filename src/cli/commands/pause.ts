import type { Desk } from "../command.ts";
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
