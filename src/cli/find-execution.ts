import type { KubeClient } from "../kube/index.ts";
import { type WorkflowExecution, workflowExecutions } from "../resources/index.ts";
import { CommandError } from "./command.ts";

/** The execution of that name, in whichever namespace it is. */
export async function findExecution(
  client: KubeClient,
  name: string,
  namespace?: string,
): Promise<WorkflowExecution | undefined> {
  const query = { fieldSelector: `metadata.name=${name}`, ...(namespace ? { namespace } : {}) };
  const { items } = await client.list(workflowExecutions, query);
  if (items.length <= 1) return items[0];
  const places = items.map(({ metadata }) => metadata.namespace).join(", ");
  throw new CommandError(`there is an execution ${name} in each of ${places}: say which with --namespace`);
}
