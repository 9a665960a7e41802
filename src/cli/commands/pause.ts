import { type AutomationPause, automationPauses } from "../../resources/index.ts";
import { parseDuration } from "../../time/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { ownName } from "../own-name.ts";
import { type PauseScope, pauseScopeText, readPauseScope } from "../parsing/pause-scope.ts";

/** `interlock pause` */
export async function pause(
  desk: Desk,
  words: readonly string[],
  { reason, for: length }: { readonly reason: string; readonly for?: string },
): Promise<number> {
  const { client, terminal, incidentsIn } = desk;
  const scope = await readPauseScope(words, desk);
  const lengthMs = length === undefined ? undefined : readLength(length);
  const until = lengthMs === undefined ? undefined : new Date(client.serverNowMs() + lengthMs).toISOString();

  const name = `pause-${terminal.id().toLowerCase()}`;
  const spec = { ...scope, reason, requestedBy: await ownName({ client, terminal }), ...(until ? { until } : {}) };
  const created = await client.create(automationPauses, draft(name, incidentsIn, spec));
  if (created.kind === "already-exists") throw new CommandError("the generated name is taken; try again");
  terminal.print(`${name}: ${pauseScopeText(scope)} is paused ${until ? `until ${until}` : "until it is resumed"}`);
  terminal.print(`To end it: interlock resume ${name} --reason "…"`);
  return 0;
}

function readLength(text: string): number {
  const ms = parseDuration(text);
  if (ms) return ms;
  throw new CommandError(`--for needs a duration such as 30m or 2h, got "${text}"`);
}

function draft(
  name: string,
  namespace: string,
  spec: PauseScope & { readonly reason: string; readonly requestedBy: string; readonly until?: string },
): AutomationPause {
  const { apiVersion, kind } = automationPauses;
  return { apiVersion, kind, metadata: { name, namespace }, spec };
}
