import { byAge, type KubeClient } from "../../kube/index.ts";
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
import { CommandError } from "../command.ts";

/** The execution with this name, complete or shortened, in any namespace unless one is given. */
export async function findExecution(
  client: KubeClient,
  text: string,
  namespace?: string,
): Promise<WorkflowExecution | undefined> {
  const { items } = await client.list(workflowExecutions, namespace ? { namespace } : {});
  const found = items.filter(({ metadata }) => isNamed(text, metadata.name ?? ""));
  if (new Set(found.map(({ metadata }) => metadata.name)).size <= 1 && found.length > 1) {
    const namespaces = found.map(({ metadata }) => metadata.namespace).join(", ");
    throw new CommandError(`execution ${text} exists in the namespaces ${namespaces}; choose one with --namespace`);
  }
  return onlyMatch(text, found);
}

/** The incident with this name, complete or shortened, in any namespace unless one is given. */
export async function findIncident(
  client: KubeClient,
  text: string,
  namespace?: string,
): Promise<RemediationRequest | undefined> {
  const { items } = await client.list(remediationRequests, namespace ? { namespace } : {});
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
  throw new CommandError(`the target "${text}" ${read.problem}`);
}

function onlyMatch<T extends { readonly metadata: { readonly name?: string } }>(
  text: string,
  found: readonly T[],
): T | undefined {
  if (found.length <= 1) return found[0];
  const names = found.map(({ metadata }) => metadata.name).join(", ");
  throw new CommandError(`"${text}" matches ${names}; write more characters of the name`);
}
