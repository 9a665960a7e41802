import { byAge, type KubeClient, type KubeObject, type ResourceType } from "../../kube/index.ts";
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
  const exact = await getExactly(client, workflowExecutions, text, namespace);
  if (exact) return exact;
  const { items } = await client.list(workflowExecutions, namespace ? { namespace } : {});
  const found = items.filter(({ metadata }) => isNamed(text, metadata.name ?? ""));
  if (new Set(found.map(({ metadata }) => metadata.name)).size <= 1 && found.length > 1) {
    const namespaces = found.map(({ metadata }) => metadata.namespace).join(", ");
    throw new OperationError("invalid", `execution ${text} exists in the namespaces ${namespaces}`, {
      hint: "choose one with --namespace",
    });
  }
  return onlyMatch(text, found);
}

/** The incident with this name, complete or shortened, in any namespace unless `namespace` is set. */
export async function findIncident(
  client: KubeClient,
  text: string,
  namespace?: string,
): Promise<RemediationRequest | undefined> {
  const exact = await getExactly(client, remediationRequests, text, namespace);
  // There may be very many incidents, and only names with this prefix can be shortened.
  const canBeShortened = text.startsWith("rr-");
  if (exact || (namespace !== undefined && !canBeShortened)) return exact;
  const { items } = await client.list(remediationRequests, {
    ...(namespace ? { namespace } : {}),
    ...(canBeShortened ? {} : { fieldSelector: `metadata.name=${text}` }),
  });
  return onlyMatch(
    text,
    items.filter(({ metadata }) => isNamed(text, metadata.name ?? "")),
  );
}

/** The coding task with this name, complete or shortened, or the tasks on a branch or in a repository, oldest first. */
export async function findTasks(client: KubeClient, text: string): Promise<readonly CodingTask[]> {
  if (!/^(ct-|git:)/.test(text)) return [];
  const { items } = await client.list(codingTasks);
  if (text.startsWith("git:")) {
    const target = parseGitTarget(text);
    return items.filter((task) => isOn(pausableTask(task), target)).sort(byAge);
  }
  const task = onlyMatch(
    text,
    items.filter(({ metadata }) => isNamed(text, metadata.name ?? "")),
  );
  return task ? [task] : [];
}

/** `git:host/42` or `git:host/42@branch` in canonical form. */
export function parseGitTarget(text: string): string {
  const read = parsePauseTarget(text);
  if (read.kind === "target") return read.text;
  throw new OperationError("invalid", `the target "${text}" ${read.problem}`);
}

/** A name that is complete needs no list, if its namespace is known. */
async function getExactly<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  name: string,
  namespace: string | undefined,
): Promise<T | undefined> {
  return namespace ? client.get(type, { name, namespace }) : undefined;
}

function onlyMatch<T extends { readonly metadata: { readonly name?: string } }>(
  text: string,
  found: readonly T[],
): T | undefined {
  if (found.length <= 1) return found[0];
  const names = found.map(({ metadata }) => metadata.name).join(", ");
  throw new OperationError("invalid", `"${text}" matches ${names}`, { hint: "write more characters of the name" });
}
