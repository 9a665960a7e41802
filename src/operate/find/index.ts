import { byAge, type KubeClient, type KubeObject } from "../../kube/index.ts";
import { isOn, pausableTask } from "../../policy/index.ts";
import {
  type CodingTask,
  codingTasks,
  parsePauseTarget,
  type RemediationRequest,
  remediationRequests,
  type WorkflowExecution,
  workflowExecutions,
} from "../../resources/index.ts";
import { isNamed } from "../../resources/short-names/index.ts";
import { OperationError } from "../errors/index.ts";

/** The name of an object, and its namespace if that is known. */
export interface ObjectName {
  readonly name: string;
  readonly namespace?: string;
}

/** Splits `NAMESPACE/NAME`; a text without a slash is a name. */
export function readObjectName(text: string): ObjectName {
  const slash = text.indexOf("/");
  if (slash < 0 || text.startsWith("git:")) return { name: text };
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** The execution with this name, complete or shortened, in any namespace unless `namespace` is set. */
export async function findExecution(
  client: KubeClient,
  text: string,
  namespace?: string,
): Promise<WorkflowExecution | undefined> {
  const exact = namespace && (await client.get(workflowExecutions, { name: text, namespace }));
  if (exact) return exact;
  const { items } = await client.list(workflowExecutions, namespace ? { namespace } : {});
  return onlyMatch(text, items);
}

/** The incident with this name, complete or shortened, in any namespace unless `namespace` is set. */
export async function findIncident(
  client: KubeClient,
  text: string,
  namespace?: string,
): Promise<RemediationRequest | undefined> {
  const exact = namespace ? await client.get(remediationRequests, { name: text, namespace }) : undefined;
  // There may be very many incidents, and only names with this prefix can be shortened.
  const canBeShortened = text.startsWith("rr-");
  if (exact || (namespace !== undefined && !canBeShortened)) return exact;
  const { items } = await client.list(remediationRequests, {
    ...(namespace ? { namespace } : {}),
    ...(canBeShortened ? {} : { fieldSelector: `metadata.name=${text}` }),
  });
  return onlyMatch(text, items);
}

/** The coding task with this name, complete or shortened, or the tasks on a branch or in a repository, oldest first. */
export async function findTasks(client: KubeClient, text: string): Promise<readonly CodingTask[]> {
  if (!/^(ct-|git:)/.test(text)) return [];
  const { items } = await client.list(codingTasks);
  if (text.startsWith("git:")) {
    const target = parseGitTarget(text);
    return items.filter((task) => isOn(pausableTask(task), target)).sort(byAge);
  }
  const task = onlyMatch(text, items);
  return task ? [task] : [];
}

/** `git:host/42` or `git:host/42@branch` in canonical form. */
export function parseGitTarget(text: string): string {
  const read = parsePauseTarget(text);
  if (read.kind === "target") return read.text;
  throw new OperationError("invalid", `the target "${text}" ${read.problem}`);
}

/** The one object whose name is `text`, complete or shortened. */
function onlyMatch<T extends KubeObject>(text: string, items: readonly T[]): T | undefined {
  const found = items.filter(({ metadata }) => isNamed(text, metadata.name ?? ""));
  if (found.length <= 1) return found[0];
  const names = new Set(found.map(({ metadata }) => metadata.name));
  if (names.size > 1) {
    const hint = "write more characters of the name";
    throw new OperationError("invalid", `"${text}" matches ${[...names].join(", ")}`, { hint });
  }
  const namespaces = found.map(({ metadata }) => metadata.namespace).join(", ");
  const message = `${text} exists in the namespaces ${namespaces}`;
  throw new OperationError("invalid", message, { hint: "choose one with --namespace" });
}
