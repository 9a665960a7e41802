import { parseArgs } from "node:util";
import { type KubeClient, KubeError } from "../kube/index.ts";
import {
  checkParameters,
  currentEntry,
  fitsTarget,
  kindsIn,
  labelKeys,
  type ParameterValue,
  type RemediationWorkflow,
  remediationWorkflows,
  type WorkflowExecution,
  workflowExecutions,
} from "../resources/index.ts";
import { readObjectTarget } from "./ask-policy.ts";
import { type Command, CommandError, type Desk } from "./command.ts";
import { follow } from "./follow.ts";
import { MisuseError, onlyWord } from "./misuse.ts";

/** `interlock run` */
export const run: Command<Desk> = {
  name: "run",
  about: "run a workflow on a target",
  usage: `interlock run WORKFLOW --target TARGET [--param NAME=VALUE]... [--namespace NS] [--no-wait]

Runs a workflow of the catalog on a target, by the same rules as everything else. Waits until it has ended: exit
status 0 if it completed, 1 if it failed, 3 if it was skipped; what was found is printed.`,
  example: "interlock run node-disk-cleanup --target node/worker-1 --param keepDays=7",
  perform: performRun,
};

async function performRun(args: readonly string[], desk: Desk): Promise<number> {
  const { client, terminal, incidentsIn } = desk;
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      target: { type: "string" },
      param: { type: "string", multiple: true, default: [] },
      namespace: { type: "string", default: incidentsIn },
      "no-wait": { type: "boolean", default: false },
    },
  });
  const workflowId = onlyWord(positionals, "which workflow to run; see: interlock get workflows");
  if (!values.target) throw new MisuseError("--target is missing: what it is to act on");
  const entry = await findEntry(client, workflowId);
  const order = {
    entry,
    target: await readTarget(values.target, entry, client),
    given: readParameters(values.param, entry),
    namespace: values.namespace,
  };
  const created = await client.create(workflowExecutions, executionOf(order, terminal.id()));
  if (created.kind === "already-exists") throw new CommandError("the name was taken; try again");
  const { name = "" } = created.object.metadata;
  terminal.print(`execution ${name} was created`);
  if (values["no-wait"]) return 0;
  return await follow(created.object, desk);
}

async function findEntry(client: KubeClient, workflowId: string): Promise<RemediationWorkflow> {
  const { items } = await client.list(remediationWorkflows);
  const entry = currentEntry(items.filter(({ spec }) => spec.workflowId === workflowId));
  if (entry) return entry;
  const known = [...new Set(items.map(({ spec }) => spec.workflowId))].sort();
  throw new CommandError(`there is no workflow ${workflowId}; the catalog has ${known.join(", ") || "none yet"}`);
}

/** The target in its one spelling, or as it is if we may not ask what kinds there are: then the executor judges. */
async function readTarget(text: string, { spec }: RemediationWorkflow, client: KubeClient): Promise<string> {
  const kinds = await kindsIn(client).catch((error) => {
    if (error instanceof KubeError && error.code === "forbidden") return undefined;
    throw error;
  });
  if (!kinds) return text;
  const target = readObjectTarget(text, kinds);
  if (fitsTarget(spec, target, kinds)) return target.text;
  const fits = spec.targetKinds?.join(", ");
  throw new CommandError(`workflow ${spec.workflowId} is not for a ${target.kind}: it fits ${fits}`);
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

interface Order {
  readonly entry: RemediationWorkflow;
  readonly target: string;
  readonly given: Readonly<Record<string, ParameterValue>>;
  readonly namespace: string;
}

function executionOf({ entry, target, given, namespace }: Order, id: string): WorkflowExecution {
  const { workflowId, version, containerImage, engine } = entry.spec;
  return {
    apiVersion: workflowExecutions.apiVersion,
    kind: workflowExecutions.kind,
    metadata: {
      name: `${workflowId}-${id.toLowerCase()}`,
      namespace,
      labels: { [labelKeys.workflowId]: workflowId },
    },
    spec: {
      workflowRef: { workflowId, version, containerImage, ...(engine ? { engine } : {}) },
      targetResource: target,
      parameters: given,
    },
  };
}
