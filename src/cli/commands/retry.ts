import type { Desk } from "../command.ts";
import { bareName } from "../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../parsing/namespace.ts";
import { objectText } from "./operate-on.ts";
import { startAndFollow } from "./start-and-follow.ts";

interface RetryOptions extends NamespaceOptions {
  readonly reason: string;
  readonly approval?: string;
  readonly dryRun?: boolean;
  readonly wait: boolean;
}

/** `interlock retry` */
export async function retry(desk: Desk, name: string, options: RetryOptions): Promise<number> {
  const { reason, approval, dryRun, wait } = options;
  const request = {
    object: objectText(bareName(name), searchedNamespace(options, desk)),
    reason,
    ...(approval !== undefined && { approval }),
    ...(dryRun && { dryRun }),
  };
  return startAndFollow("retry", request, { wait }, desk);
}
