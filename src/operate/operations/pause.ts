import { iso } from "../../kube/index.ts";
import { isLasting } from "../../policy/index.ts";
import { type AutomationPause, automationPauses, pauseFinalizer } from "../../resources/index.ts";
import { z } from "../../schema/index.ts";
import { parseDuration } from "../../time/index.ts";
import { createOnce, keyedName } from "../create-once.ts";
import { OperationError } from "../errors/index.ts";
import { defineOperation, isOrWouldBe, objectKey } from "../operation.ts";
import { pauseScopeText, readPauseScope } from "../pause-scope.ts";
import { common, fields } from "../request/index.ts";

/** Pauses automation everywhere, in a namespace, on a target or for one workflow. */
export const pause = defineOperation({
  schema: z.strictObject({ ...common, scope: fields.scope, for: fields.for }),
  async perform(call) {
    const { request, caller, context } = call;
    const scope = await readPauseScope(request.scope, context);
    const nowMs = context.client.serverNowMs();
    const until = request.for === undefined ? {} : { until: iso(nowMs + readDuration(request.for)) };
    const draft: AutomationPause = {
      apiVersion: automationPauses.apiVersion,
      kind: automationPauses.kind,
      metadata: {
        name: keyedName("pause", call),
        namespace: context.incidentsIn,
        // Set here, not by the stage that records it: otherwise a pause that is deleted before that leaves no record.
        finalizers: [pauseFinalizer],
      },
      spec: { ...scope, reason: request.reason, requestedBy: caller.name, ...until },
    };
    const created = await createOnce(automationPauses, draft, call, contentOf);
    const { name } = created.metadata;
    const result = { kind: "pauses", object: objectKey(created) } as const;
    if (!isLasting(created, nowMs)) {
      return { ...result, message: `${name}: the pause of ${pauseScopeText(scope)} has ended already` };
    }
    const end = created.spec.until ? `until ${created.spec.until}` : "until it is resumed";
    return {
      ...result,
      message: `${name}: ${pauseScopeText(scope)} ${isOrWouldBe(call)} paused ${end}`,
      ...(request.dryRun ? {} : { notes: [`To end it: interlock resume ${name} --reason "…"`] }),
    };
  },
});

/** The end is derived from the time of the first attempt. */
function contentOf({ spec: { until, ...spec } }: AutomationPause): unknown {
  return { ...spec, ends: until !== undefined };
}

/** Ten years. A date much later cannot be written. */
const maxPauseMs = 87_600 * 3_600_000;

function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms && ms <= maxPauseMs) return ms;
  throw new OperationError("invalid", `--for needs a duration such as 30m or 2h, at most 87600h, got "${text}"`);
}
