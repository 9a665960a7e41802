import type { KubeObject, ResourceType } from "../../kube/index.ts";
import type { OperationOutcome } from "../../operate/index.ts";
import { remediationApprovalRequests, type WorkflowExecution, workflowExecutions } from "../../resources/index.ts";
import { CommandError, type Desk, exitStatus } from "../command.ts";
import { performAtDesk, type TypedRequest } from "../perform-at-desk.ts";
import { awaitApproval } from "./await-approval.ts";
import { follow } from "./follow.ts";

/** Starts an execution, after an approval if its workflow requires one, and follows it to its end unless `wait` is false. */
export async function startAndFollow(
  operation: "run" | "retry",
  request: TypedRequest,
  { wait }: { readonly wait: boolean },
  desk: Desk,
): Promise<number> {
  // The approval and the execution belong to one request.
  const keyed = { ...request, key: desk.random.id() };
  let outcome = await performAtDesk(operation, keyed, desk);
  if (!wait || request.dryRun) return 0;
  if (outcome.kind === "approvals") {
    const approval = await read(remediationApprovalRequests, outcome, desk);
    await awaitApproval(approval, desk);
    outcome = await performAtDesk(operation, { ...keyed, approval: approval.metadata.name ?? "" }, desk);
  }
  return await followOrCancel(await read(workflowExecutions, outcome, desk), desk);
}

async function read<T extends KubeObject>(
  type: ResourceType<T>,
  { object = "" }: OperationOutcome,
  { client }: Desk,
): Promise<T> {
  const [namespace = "", name = ""] = object.split("/");
  const found = await client.get(type, { namespace, name });
  if (found) return found;
  throw new CommandError(`${name} was deleted`);
}

/** Prints the progress of an execution. Ctrl-C asks once whether to cancel it; detaching leaves it as it is. */
async function followOrCancel(execution: WorkflowExecution, desk: Desk): Promise<number> {
  const interrupted = desk.interrupted();
  const ended = follow(execution, desk);
  const first = await Promise.race([ended, whenAborted(interrupted)]);
  if (first !== "interrupted") return first;

  const interruptedAgain = desk.interrupted();
  const { name = "", namespace = "" } = execution.metadata;
  const question = `cancel ${name}, or detach and let it run? [c/D] `;
  const answer = await Promise.race([ended, desk.terminal.ask?.(question, interruptedAgain)]);
  if (typeof answer === "number") return answer;
  if (!/^c/i.test(answer?.trim() ?? "")) {
    return detach(ended, `${name} continues; to stop it: interlock cancel ${name} --reason "…"`, desk);
  }

  await performAtDesk("cancel", { object: `${namespace}/${name}`, reason: "Ctrl-C on interlock run" }, desk);
  const last = await Promise.race([ended, whenAborted(interruptedAgain)]);
  return last === "interrupted" ? detach(ended, `${name} is still being cancelled`, desk) : last;
}

function detach(ended: Promise<number>, message: string, { terminal }: Desk): number {
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
