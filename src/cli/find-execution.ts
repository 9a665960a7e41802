import type { KubeClient } from "../kube/index.ts";
import { type WorkflowExecution, workflowExecutions } from "../resources/index.ts";
import { CommandError } from "./command.ts";
import { isNamed } from "./short-name.ts";

/** The execution that a name means, whole or cut short, in whichever namespace it is. */
export async function findExecution(
  client: KubeClient,
  text: string,
  namespace?: string,
): Promise<WorkflowExecution | undefined> {
  const { items } = await client.list(workflowExecutions, namespace ? { namespace } : {});
  const found = items.filter(({ metadata }) => isNamed(text, metadata.name ?? ""));
  if (found.length <= 1) return found[0];
  const names = new Set(found.map(({ metadata }) => metadata.name));
  if (names.size > 1) throw new CommandError(`${text} may be ${[...names].join(" or ")}: write more of it`);
  const places = found.map(({ metadata }) => metadata.namespace).join(", ");
  throw new CommandError(`there is an execution ${text} in each of ${places}: say which with --namespace`);
}
