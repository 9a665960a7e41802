import { iso } from "../../kube/index.ts";
import { isLasting } from "../../policy/index.ts";
import { type AutomationPause, automationPauses } from "../../resources/index.ts";
import { type Wire, z } from "../../schema/index.ts";
import { OperationError } from "../errors/index.ts";
import { readObjectName } from "../find/index.ts";
import { defineOperation, type OperationCall, type OperationResult, objectKey } from "../operation.ts";
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

type ResumeCall = OperationCall<Wire<typeof schema>>;

/** Ends one pause, or every pause of exactly one scope. */
export const resume = defineOperation({
  schema,
  async perform(call) {
    const { object, scope } = call.request;
    const { items } = await call.context.client.list(automationPauses);
    const found = scope ? await findInScope(scope, items, call) : [findNamed(object ?? "", items, call)];
    for (const pause of found) {
      await writeAtVersion(automationPauses, pause, call, (current) => endChange(current, items, call));
    }
    return describe(found, call);
  },
});

function findNamed(text: string, items: readonly AutomationPause[], { context }: ResumeCall): AutomationPause {
  const { name, namespace } = readObjectName(text);
  const found = items.filter(({ metadata }) => metadata.name === name);
  const isIn = (where: string) => found.find(({ metadata }) => metadata.namespace === where);
  const pause = namespace === undefined ? (isIn(context.incidentsIn) ?? found[0]) : isIn(namespace);
  if (pause) return pause;
  throw notActive(name, items, context.client.serverNowMs());
}

/** A repeated request finds the pauses that it ended before. */
const repeatedWithinMs = 10 * 60_000;

async function findInScope(
  scopeArgs: readonly string[],
  items: readonly AutomationPause[],
  { request, caller, context }: ResumeCall,
): Promise<readonly AutomationPause[]> {
  const scope = pauseScopeText(await readPauseScope(scopeArgs, context));
  const nowMs = context.client.serverNowMs();
  const found = items.filter((pause) => {
    if (pauseScopeText(pause.spec) !== scope) return false;
    if (isLasting(pause, nowMs)) return true;
    const { status } = pause;
    const isOwn = status?.endedBy === caller.name && status.endReason === request.reason;
    return isOwn && Date.parse(status.endedAt) > nowMs - repeatedWithinMs;
  });
  if (found.length > 0) return found;
  throw new OperationError("conflict", `no active pause has exactly the scope "${scope}"`, {
    hint: activeText(items, nowMs),
  });
}

function endChange(
  pause: AutomationPause,
  items: readonly AutomationPause[],
  { request, caller, context }: ResumeCall,
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

function describe(found: readonly AutomationPause[], { request }: ResumeCall): OperationResult {
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
