import type { KubeClient } from "../../kube/index.ts";
import { isLasting } from "../../policy/index.ts";
import { type AutomationPause, automationPauses } from "../../resources/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { ownName } from "../own-name.ts";
import { bareName } from "../parsing/kinds.ts";
import { type PauseScope, pauseScopeText, readPauseScope } from "../parsing/pause-scope.ts";

/** `interlock resume` */
export async function resume(
  desk: Desk,
  words: readonly string[],
  { reason }: { readonly reason: string },
): Promise<number> {
  const { client, terminal } = desk;
  const nowMs = client.serverNowMs();
  const { items } = await client.list(automationPauses);
  const lasting = items.filter((pause) => isLasting(pause, nowMs));

  const found = await wanted(words, lasting, desk);
  const endedBy = await ownName({ client, terminal });
  for (const pause of found) {
    await end(pause, { endedAt: new Date(nowMs).toISOString(), endedBy, endReason: reason }, client);
    terminal.print(`${pause.metadata.name} has ended, which covered ${pauseScopeText(pause.spec)}`);
  }
  return 0;
}

async function wanted(words: readonly string[], lasting: readonly AutomationPause[], desk: Desk) {
  const [first = "", ...more] = words;
  const named = lasting.filter(({ metadata }) => words.map(bareName).includes(metadata.name ?? ""));
  if (named.length === words.length) return named;
  const names = lasting.map(({ metadata, spec }) => `${metadata.name} (${pauseScopeText(spec)})`);
  const active = names.length > 0 ? `active pauses: ${names.join(", ")}` : "nothing is paused";
  if (more.length === 0 && first !== "all") throw new CommandError(`no active pause ${first}; ${active}`);
  const scope = await readPauseScope(words, desk);
  const found = lasting.filter(({ spec }) => isSame(scope, spec));
  if (found.length > 0) return found;
  throw new CommandError(`${pauseScopeText(scope)} is not paused by itself; ${active}`);
}

function isSame(scope: PauseScope, spec: AutomationPause["spec"]): boolean {
  return pauseScopeText(scope) === pauseScopeText(spec);
}

async function end({ metadata }: AutomationPause, status: NonNullable<AutomationPause["status"]>, client: KubeClient) {
  const ref = { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
  const patch = { merge: { metadata: { resourceVersion: metadata.resourceVersion }, status } };
  const outcome = await client.patch(automationPauses, ref, patch, { subresource: "status" });
  if (outcome.kind !== "updated") throw new CommandError(`pause ${ref.name} changed meanwhile; try again`);
}
