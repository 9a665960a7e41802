import type { KubeObject } from "../../kube/index.ts";
import {
  automationPauses,
  codingTasks,
  type Kind,
  notificationRequests,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  remediationWorkflows,
  workflowExecutions,
} from "../../resources/index.ts";
import { CommandError, type Desk } from "../command.ts";
import { kindWords } from "../declare/words.ts";
import { Table } from "../output/table.ts";
import { jsonLines } from "../output/terminal.ts";
import { watchTable } from "../output/watch-table.ts";
import { isNamed, shortNames } from "../parsing/short-name.ts";

const kinds: Readonly<Record<(typeof kindWords)[number], Kind>> = {
  incidents: remediationRequests,
  executions: workflowExecutions,
  targets: remediationTargets,
  workflows: remediationWorkflows,
  pauses: automationPauses,
  approvals: remediationApprovalRequests,
  notices: notificationRequests,
  tasks: codingTasks,
};

interface GetOptions {
  readonly namespace?: string;
  readonly output?: "wide" | "json" | "name";
  readonly watch?: boolean;
}

/** `interlock get` */
export async function get(
  desk: Desk,
  word: string,
  name: string | undefined,
  { namespace, output, watch }: GetOptions,
): Promise<number> {
  const { client, terminal } = desk;
  const { plural, kind } = kindOf(word);
  const wide = output === "wide";
  const table = new Table(kind, { wide, nameOf: wide ? (name) => name : shortNames });
  const query = namespace ? { namespace } : {};
  const pick = (objects: readonly KubeObject[]) =>
    objects.filter(({ metadata }) => !name || isNamed(name, metadata.name ?? "")).sort(byAge);
  if (watch) {
    if (output !== undefined && !wide) throw new CommandError(`--watch shows a table, not ${output}`);
    await watchTable(kind, table, { query, pick }, desk);
    return 0;
  }

  const items = pick((await client.list<KubeObject>(kind, query)).items);
  if (name && items.length === 0)
    throw new CommandError(`there is no ${plural.slice(0, -1)} ${name}; see: interlock get ${plural}`);
  if (output === "json") for (const line of jsonLines(items)) terminal.print(line);
  else if (output === "name") for (const { metadata } of items) terminal.print(metadata.name ?? "");
  else if (items.length === 0) terminal.print(`there are no ${plural}${namespace ? ` in ${namespace}` : ""}`);
  else for (const line of table.lines(items, client.serverNowMs())) terminal.print(line);
  return 0;
}

/** By our word for it, in the singular too, or by the name that kubectl knows. */
function kindOf(word: string): { readonly plural: string; readonly kind: Kind } {
  const small = word.toLowerCase();
  for (const [plural, kind] of Object.entries(kinds)) {
    const names = [plural, plural.slice(0, -1), kind.plural, kind.singular, kind.shortName];
    if (names.includes(small)) return { plural, kind };
  }
  throw new CommandError(`there are no "${word}" here; there are ${kindWords.join(", ")}`);
}

function byAge({ metadata: one }: KubeObject, { metadata: other }: KubeObject): number {
  const [a = "", b = ""] = [one.creationTimestamp, other.creationTimestamp];
  return a === b ? ((one.name ?? "") < (other.name ?? "") ? -1 : 1) : a < b ? -1 : 1;
}
