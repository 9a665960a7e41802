import { parseArgs } from "node:util";
import { type AutomationPause, automationPauses } from "../../resources/index.ts";
import { parseDuration } from "../../time/index.ts";
import { type Command, CommandError, type Desk } from "../command.ts";
import { ownName } from "../own-name.ts";
import { givenReason } from "../parsing/misuse.ts";
import { type PauseScope, pauseScopes, pauseScopeText, readPauseScope } from "../parsing/pause-scope.ts";

/** `interlock pause` */
export const pause: Command<Desk> = {
  name: "pause",
  about: "Pause automation everywhere, in a namespace, on a target, or for one workflow",
  usage: `interlock pause ${pauseScopes.replaceAll(" | ", "|")} --reason TEXT [--for 2h]

Start nothing new in this scope until the pause ends: after --for, or with interlock resume. Running executions continue.
Several pauses may cover the same scope; it stays paused until the last of them has ended.

Coding tasks are paused by all, by their namespace, and by a target git:host/42 (every branch of project 42) or
git:host/42@branch. They are accepted, and start after the pause.`,
  example: 'interlock pause all --reason "release 4" --for 2h',
  perform: performPause,
};

async function performPause(args: readonly string[], desk: Desk): Promise<number> {
  const { client, terminal, incidentsIn } = desk;
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { reason: { type: "string" }, for: { type: "string" } },
  });
  const scope = await readPauseScope(positionals, desk);
  const reason = givenReason(values);
  const lengthMs = values.for === undefined ? undefined : readLength(values.for);
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
