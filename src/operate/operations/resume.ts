import { iso } from "../../kube/index.ts";
import { isLasting } from "../../policy/index.ts";
import { type AutomationPause, automationPauses } from "../../resources/index.ts";
import { type Wire, z } from "../../schema/index.ts";
import { OperationError } from "../errors/index.ts";
import { readObjectName } from "../find/index.ts";
import { defineOperation, type OperationResult, type Order, objectKey } from "../operation.ts";
import { pauseScopeText, readPauseScope } from "../pause-scope.ts";
import { fields, onObject } from "../request/index.ts";
import { type VersionedChange, writeAtVersion } from "../write-at-version.ts";

const schema = z
  .strictObject({ ...onObject, object: fields.object.optional(), scope: fields.scope.optional() })
  .refine(({ object, scope }) => (object === undefined) !== (scope === undefined), {
    error: "must have either an object or a scope",
  })
  .refine(({ scope, ifVersion }) => scope === undefined || ifVersion === undefined, {
    error: "must have an object for ifVersion, as a scope may have several pauses",
  });

type ResumeOrder = Order<Wire<typeof schema>>;

/** Ends one pause, or every pause of exactly one scope. */
export const resume = defineOperation({
  schema,
  async perform(order) {
    const { object, scope } = order.request;
    const { items } = await order.context.client.list(automationPauses);
    const found = scope ? await inScope(scope, items, order) : [findNamed(object ?? "", items, order)];
    for (const pause of found) {
      await writeAtVersion(automationPauses, pause, order, (current) => endChange(current, items, order));
    }
    return describe(found, order);
  },
});

function findNamed(text: string, items: readonly AutomationPause[], { context }: ResumeOrder): AutomationPause {
  const { name, namespace } = readObjectName(text);
  const found = items.filter(({ metadata }) => metadata.name === name);
  const isIn = (where: string) => found.find(({ metadata }) => metadata.namespace === where);
  const pause = namespace === undefined ? (isIn(context.incidentsIn) ?? found[0]) : isIn(namespace);
  if (pause) return pause;
  throw notActive(name, items, context.client.serverNowMs());
}

/** A request that arrives again may find the pauses that it ended before. */
const repeatedWithinMs = 10 * 60_000;

async function inScope(
  words: readonly string[],
  items: readonly AutomationPause[],
  { request, caller, context }: ResumeOrder,
): Promise<readonly AutomationPause[]> {
  const scope = pauseScopeText(await readPauseScope(words, context));
  const nowMs = context.client.serverNowMs();
  const found = items.filter((pause) => {
    if (pauseScopeText(pause.spec) !== scope) return false;
    if (isLasting(pause, nowMs)) return true;
    const { status } = pause;
    const isOwn = status?.endedBy === caller.name && status.endReason === request.reason;
    return isOwn && Date.parse(status.endedAt) > nowMs - repeatedWithinMs;
  });
  if (found.length > 0) return found;
  throw new OperationError("conflict", `${scope} is not paused by itself`, { hint: activeText(items, nowMs) });
}

function endChange(
  pause: AutomationPause,
  items: readonly AutomationPause[],
  { request, caller, context }: ResumeOrder,
): VersionedChange | undefined {
  const nowMs = context.client.serverNowMs();
  const { metadata, status } = pause;
  if (status?.endedBy === caller.name) return undefined;
  if (status) {
    const message = `${metadata.name} was ended already by ${status.endedBy} at ${status.endedAt}: ${status.endReason}`;
    throw new OperationError("conflict", message, { current: pause });
  }
  if (!isLasting(pause, nowMs)) throw notActive(metadata.name ?? "", items, nowMs);
  return { status: { endedAt: iso(nowMs), endedBy: caller.name, endReason: request.reason } };
}

function describe(found: readonly AutomationPause[], { request }: ResumeOrder): OperationResult {
  const names = found.map(({ metadata }) => metadata.name).join(" and ");
  const [first] = found;
  if (!first) throw new TypeError("no pause was found");
  const verb = request.dryRun ? "would end" : found.length === 1 ? "has ended" : "have ended";
  return {
    message: `${names} ${verb}, which covered ${pauseScopeText(first.spec)}`,
    kind: "pauses",
    ...(found.length === 1 ? { object: objectKey(first) } : {}),
  };
}

function notActive(name: string, items: readonly AutomationPause[], nowMs: number): OperationError {
  return new OperationError("not-found", `no active pause ${name}`, { hint: activeText(items, nowMs) });
}

function activeText(items: readonly AutomationPause[], nowMs: number): string {
  const active = items.filter((pause) => isLasting(pause, nowMs));
  const names = active.map(({ metadata, spec }) => `${metadata.name} (${pauseScopeText(spec)})`);
  return names.length > 0 ? `active pauses: ${names.join(", ")}` : "nothing is paused";
}
