import { actions, gitlabIssues, leaveReason, readInputs, runAction } from "../../../actions/index.ts";
import { openActionServer } from "../../../app/index.ts";
import { CommandError, MisuseError } from "../../command.ts";
import { type CommandContext, onStopSignal } from "../../context.ts";

/** `interlock action NAME`, in a step of a workflow. */
export async function action({ clock, random, env, terminal }: CommandContext, name: string): Promise<void> {
  const found = actions.find((one) => one.name === name);
  if (!found)
    throw new MisuseError(`unknown action "${name}"; use one of ${actions.map((one) => one.name).join(", ")}`);
  const reading = readInputs(found, env);
  if (reading.kind === "invalid") throw new CommandError(`invalid inputs of ${name}:`, reading.problems);

  const client = await openActionServer({ env, clock, random });
  const stop = new AbortController();
  onStopSignal(clock, () => stop.abort());
  const print = (line: string) => terminal.print(line);
  const deps = { client, issues: gitlabIssues(clock), clock, print, signal: stop.signal };
  const { kind, message } = await runAction(found, reading.inputs, deps);
  if (kind === "failed") {
    await leaveReason(message);
    throw new CommandError(`${name} failed: ${message}`);
  }
  terminal.print(message);
}
