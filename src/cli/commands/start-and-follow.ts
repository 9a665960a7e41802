import type { KubeObject, ResourceType } from "../../kube/index.ts";
import type { OperationOutcome } from "../../operate/index.ts";
import { remediationApprovalRequests, type WorkflowExecution, workflowExecutions } from "../../resources/index.ts";
import { CommandError, exitStatus, type ServerContext } from "../command.ts";
import { performOperation, type RequestFields } from "../perform-operation.ts";
import { awaitApproval } from "./await-approval.ts";
import { follow } from "./follow.ts";

/** Starts an execution, after an approval if its workflow requires one, and follows it to its end unless `wait` is false. */
export async function startAndFollow(
  operation: "run" | "retry",
  request: RequestFields,
  { wait }: { readonly wait: boolean },
  context: ServerContext,
): Promise<number> {
  // The approval and the execution belong to one request.
  const keyed = { ...request, key: context.random.id() };
  let outcome = await performOperation(operation, keyed, context);
  if (!wait || request.dryRun) return 0;
  if (outcome.kind === "approvals") {
    const approval = await read(remediationApprovalRequests, outcome, context);
    await awaitApproval(approval, context);
    outcome = await performOperation(operation, { ...keyed, approval: approval.metadata.name ?? "" }, context);
  }
  return await followOrCancel(await read(workflowExecutions, outcome, context), context);
}

async function read<T extends KubeObject>(
  type: ResourceType<T>,
  { object = "" }: OperationOutcome,
  { client }: ServerContext,
): Promise<T> {
  const [namespace = "", name = ""] = object.split("/");
  const found = await client.get(type, { namespace, name });
  if (found) return found;
  throw new CommandError(`${name} was deleted`);
}

/** Prints the progress of an execution. Ctrl-C asks once whether to cancel it; detaching does not change it. */
async function followOrCancel(execution: WorkflowExecution, context: ServerContext): Promise<number> {
  const interrupted = context.interrupted();
  const ended = follow(execution, context);
  const first = await Promise.race([ended, whenAborted(interrupted)]);
  if (first !== "interrupted") return first;

  const interruptedAgain = context.interrupted();
  const { name = "", namespace = "" } = execution.metadata;
  const question = `cancel ${name}, or detach and let it run? [c/D] `;
  const answer = await Promise.race([ended, context.terminal.ask?.(question, interruptedAgain)]);
  if (typeof answer === "number") return answer;
  if (!/^c/i.test(answer?.trim() ?? "")) {
    return detach(ended, `${name} continues; to stop it: interlock cancel ${name} --reason "…"`, context);
  }

  await performOperation("cancel", { object: `${namespace}/${name}`, reason: "Ctrl-C on interlock run" }, context);
  const last = await Promise.race([ended, whenAborted(interruptedAgain)]);
  return last === "interrupted" ? detach(ended, `${name} is still being cancelled`, context) : last;
}

function detach(ended: Promise<number>, message: string, { terminal }: ServerContext): number {
  // The caller no longer waits for the end, so a failure to observe it is no failure of the command.
  ended.catch(() => {});
  terminal.print(`detached: ${message}`);
  return exitStatus("interrupted");
}

function whenAborted(signal: AbortSignal): Promise<"interrupted"> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve("interrupted");
    else signal.addEventListener("abort", () => resolve("interrupted"), { once: true });
  });
}
