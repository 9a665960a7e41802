import { KubeError } from "../../kube/index.ts";
import {
  annotationKeys,
  builtInKinds,
  checkParameters,
  currentEntry,
  type Kinds,
  labelKeys,
  type ParameterValue,
  type RemediationWorkflow,
  remediationWorkflows,
  targetKindProblem,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { exitStatus } from "../exit-status.ts";
import { ownName } from "../own-name.ts";
import { readObjectTarget } from "../query-policy.ts";
import { cancelExecution } from "./cancel.ts";
import { follow } from "./follow.ts";
import { type ApprovalDraft, awaitApproval, requestApproval } from "./request-approval.ts";

interface RunOptions {
  readonly target: string;
  readonly param?: readonly string[];
  readonly approval?: string;
  readonly namespace?: string;
  readonly wait: boolean;
}

/** `interlock run` */
export async function run(desk: Desk, workflowId: string, options: RunOptions): Promise<number> {
  const { client, terminal, incidentsIn } = desk;
  const kinds = await kindsIfReadable(desk);
  const entry = await findEntry(desk, workflowId, kinds ?? builtInKinds);
  const name = `${workflowId}-${terminal.id().toLowerCase()}`;
  const draft = {
    name,
    entry,
    target: readTarget(options.target, entry, kinds),
    parameters: readParameters(options.param ?? [], entry),
  };
  let { approval } = options;
  if (entry.spec.approval?.required && approval === undefined) {
    const requested = await requestApproval(draft, desk);
    approval = requested.metadata.name ?? "";
    terminal.print(
      `approval ${approval} was requested until ${requested.spec.requiredBy}; answer with: interlock approve ${approval} --reason "…"`,
    );
    if (!options.wait) return 0;
    await awaitApproval(requested, desk);
  }
  const order = { ...draft, namespace: options.namespace ?? incidentsIn, approval };
  const created = await client.create(workflowExecutions, executionOf(order));
  if (created.kind === "already-exists") throw new CommandError("the generated name is taken; try again");
  terminal.print(`execution ${name} was created`);
  if (!options.wait) return 0;
  return await followOrCancel(created.object, desk);
}

/** Prints the progress of an execution. Ctrl-C asks once whether to cancel it; detaching leaves it as it is. */
async function followOrCancel(execution: WorkflowExecution, desk: Desk): Promise<number> {
  const interrupted = desk.interrupted();
  const ended = follow(execution, desk);
  const first = await Promise.race([ended, whenAborted(interrupted)]);
  if (first !== "interrupted") return first;

  const interruptedAgain = desk.interrupted();
  const { name = "" } = execution.metadata;
  const question = `cancel ${name}, or detach and let it run? [c/D] `;
  const answer = await Promise.race([ended, desk.terminal.ask?.(question, interruptedAgain)]);
  if (typeof answer === "number") return answer;
  if (!/^c/i.test(answer?.trim() ?? "")) {
    return detach(ended, `${name} goes on; to stop it: interlock cancel ${name} --reason "…"`, desk);
  }

  const by = await ownName(desk);
  await cancelExecution(execution, { by, reason: "Ctrl-C on interlock run", blocks: false }, desk);
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

async function findEntry({ client, catalogIn }: Desk, workflowId: string, kinds: Kinds): Promise<RemediationWorkflow> {
  const { items } = await client.list(remediationWorkflows, { namespace: catalogIn });
  const entry = currentEntry(
    items.filter(({ spec }) => spec.workflowId === workflowId),
    kinds,
  );
  if (entry) return entry;
  const known = [...new Set(items.map(({ spec }) => spec.workflowId))].sort();
  throw new CommandError(`there is no workflow ${workflowId}; the catalog has ${known.join(", ") || "none yet"}`);
}

/** Undefined if the user may not read which kinds are defined. */
async function kindsIfReadable(desk: Desk): Promise<Kinds | undefined> {
  return desk.kinds().catch((error: unknown) => {
    if (error instanceof KubeError && error.code === "forbidden") return undefined;
    throw error;
  });
}

/** The target in its one spelling, or as it is if it is not known which kinds there are: then the executor judges. */
function readTarget(text: string, { spec }: RemediationWorkflow, kinds: Kinds | undefined): string {
  if (!kinds) return text;
  const target = readObjectTarget(text, kinds);
  const refusal = targetKindProblem(spec, target, kinds);
  if (refusal === undefined) return target.text;
  throw new CommandError(refusal);
}

/** `--param` values are text; what the workflow takes says what they mean. */
function readParameters(
  given: readonly string[],
  { spec }: RemediationWorkflow,
): Readonly<Record<string, ParameterValue>> {
  const values: Record<string, ParameterValue> = {};
  for (const one of given) {
    const at = one.indexOf("=");
    if (at < 1) throw new CommandError(`--param wants NAME=VALUE, got ${one}`);
    const name = one.slice(0, at);
    values[name] = typed(one.slice(at + 1), spec.parameters?.properties[name]?.type);
  }
  const checked = checkParameters(spec.parameters, values);
  if (checked.kind === "invalid") throw new CommandError("the parameters do not fit the workflow:", checked.problems);
  return values;
}

function typed(text: string, type: string | undefined): ParameterValue {
  if (type === "array") return text === "" ? [] : text.split(",");
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  if ((type === "integer" || type === "number") && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  return text;
}

interface Order extends ApprovalDraft {
  readonly namespace: string;
  readonly approval: string | undefined;
}

function executionOf({ name, entry, target, parameters, namespace, approval }: Order): WorkflowExecution {
  const { workflowId, version, containerImage, engine } = entry.spec;
  return {
    apiVersion: workflowExecutions.apiVersion,
    kind: workflowExecutions.kind,
    metadata: {
      name,
      namespace,
      labels: { [labelKeys.workflowId]: workflowId },
      ...(approval === undefined ? {} : { annotations: { [annotationKeys.approval]: approval } }),
    },
    spec: {
      workflowRef: { workflowId, version, containerImage, ...(engine ? { engine } : {}) },
      targetResource: target,
      parameters,
    },
  };
}
