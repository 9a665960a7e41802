import { parseArgs } from "node:util";
import { annotationKeys, codingTasks } from "../resources/index.ts";
import { type Command, CommandError, type Desk } from "./command.ts";
import { givenReason, onlyWord } from "./misuse.ts";
import { ownName } from "./own-name.ts";
import { findTasks } from "./why-task.ts";

/** `interlock cancel` */
export const cancel: Command<Desk> = {
  name: "cancel",
  about: "stop a coding task",
  usage: `interlock cancel TASK --reason TEXT

Asks whoever works on the task to stop; one that waits ends at once. What was pushed or said already stays.`,
  example: 'interlock cancel ct-oiiu3npg --reason "not needed any more"',
  async perform(args, { client, terminal }) {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { reason: { type: "string" } },
    });
    const name = onlyWord(positionals, "which task; see: interlock get tasks");
    const reason = givenReason(values);
    const [task] = name.startsWith("git:") ? [] : await findTasks(client, name);
    if (!task) throw new CommandError(`there is no task ${name}; see: interlock get tasks`);
    if (task.status && "completionTime" in task.status) {
      throw new CommandError(`${task.metadata.name} has ended already: ${task.status.phase}`);
    }
    const ref = { name: task.metadata.name ?? "", namespace: task.metadata.namespace ?? "" };
    const by = await ownName({ client, terminal });
    const merge = { metadata: { annotations: { [annotationKeys.cancelRequested]: `${by}: ${reason}` } } };
    await client.patch(codingTasks, ref, { merge });
    terminal.print(`${ref.name} is told to stop; see: interlock why ${ref.name}`);
    return 0;
  },
};
