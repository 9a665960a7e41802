import {
  type KubeClient,
  KubeError,
  type KubeObject,
  type ListQuery,
  leases,
  type ResourceType,
} from "../../../kube/index.ts";
import {
  automationPauses,
  codingTasks,
  heartbeatSelector,
  notificationRequests,
  readHeartbeat,
  remediationApprovalRequests,
  remediationRequests,
  remediationTargets,
  workflowExecutions,
} from "../../../resources/index.ts";
import { shortNames } from "../../../resources/short-names/index.ts";
import type { ServerContext } from "../../command.ts";
import { jsonLines, type Line, type Tone } from "../../output/terminal.ts";
import { yamlLines } from "../../output/yaml.ts";
import { assess, type StatusReport } from "./assess.ts";
import type { StatusFinding, StatusSnapshot, UnreadableKind } from "./findings.ts";

/** `interlock status`. Exit status 0 if everything is healthy, 1 if not. */
export async function status(
  context: ServerContext,
  { output }: { readonly output?: "json" | "yaml" },
): Promise<number> {
  const report = assess(await observe(context));
  for (const line of outputLines(report, output)) context.terminal.print(line);
  return report.isHealthy ? 0 : 1;
}

async function observe({ client, heartbeatsIn, digestWindowMs }: ServerContext): Promise<StatusSnapshot> {
  const unreadable: UnreadableKind[] = [];
  const list = <T extends KubeObject>(type: ResourceType<T>, query?: ListQuery) =>
    listIfAllowed(client, type, { query, unreadable });
  const lists = await Promise.all([
    list(leases, { namespace: heartbeatsIn, labelSelector: heartbeatSelector }),
    list(remediationRequests),
    list(workflowExecutions),
    list(codingTasks),
    list(remediationApprovalRequests),
    list(remediationTargets),
    list(notificationRequests),
    list(automationPauses),
  ]);
  // Credentials that may read nothing are one error, not a report without content.
  const [first] = unreadable;
  if (first && unreadable.length === lists.length) throw new KubeError("forbidden", first.reason);
  const [beats, incidents, executions, tasks, approvals, targets, notices, pauses] = lists;
  const nowMs = client.serverNowMs();
  const heartbeats = beats.flatMap((lease) => readHeartbeat(lease, nowMs) ?? []);
  const work = { incidents, executions, tasks, approvals, targets, notices, pauses };
  return { nowMs, heartbeats, ...work, digestWindowMs, unreadable };
}

interface ListAttempt {
  readonly query: ListQuery | undefined;
  /** Receives the reason if the user may not list them. */
  readonly unreadable: UnreadableKind[];
}

/** A missing right must not hide the rest of the status, and must not look healthy. */
async function listIfAllowed<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  { query, unreadable }: ListAttempt,
): Promise<readonly T[]> {
  try {
    return (await client.list(type, query)).items;
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== "forbidden") throw error;
    unreadable.push({ plural: type.plural, reason: error.message });
    return [];
  }
}

function outputLines(report: StatusReport, output: "json" | "yaml" | undefined): readonly Line[] {
  if (output === undefined) return reportLines(report);
  const { lines: _lines, ...data } = report;
  return output === "json" ? jsonLines(data) : yamlLines(data);
}

/** The verdict, one line for each part, and below them what an operator should look at. */
function reportLines({ isHealthy, problems, notes, lines }: StatusReport): readonly Line[] {
  const count = problems.length;
  const verdict = isHealthy ? "healthy" : `not healthy: ${count} ${count === 1 ? "problem" : "problems"}`;
  return [
    [{ text: verdict, tone: isHealthy ? "good" : "bad" }],
    ...Object.entries(lines).map(([name, text]) => `${name.padEnd(12)}${text}`),
    ...findingLines({ text: "problem", tone: "bad" }, problems),
    ...findingLines({ text: "note", tone: "warning" }, notes),
  ];
}

function findingLines(word: { text: string; tone: Tone }, findings: readonly StatusFinding[]): readonly Line[] {
  return findings.flatMap(({ message, next }) => [[word, `: ${shortNames(message)}`], `  next: ${shortNames(next)}`]);
}
