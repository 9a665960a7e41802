import type { KubeClient } from "../../src/kube/index.ts";
import { type LedgerEvent, readLedger } from "../../src/ledger/index.ts";
import {
  blockText,
  isRecorded,
  type RemediationRequest,
  remediationRequests,
  skipText,
  type WorkflowExecution,
  workflowExecutions,
} from "../../src/resources/index.ts";
import { TestCli } from "./test-cli.ts";

interface Recorded {
  readonly client: KubeClient;
  /** The ledger. */
  readonly events: () => readonly LedgerEvent[];
}

/** After a scenario: for everything that ended or is blocked, `interlock why` agrees with the status and the ledger. */
export async function whyAgrees(recorded: Recorded): Promise<void> {
  const found = await disagreements(recorded);
  if (found.length > 0) throw new Error(found.join("\n\n"));
}

/** The differences between `interlock why`, the status and the ledger. */
export async function disagreements({ client, events }: Recorded): Promise<readonly string[]> {
  const still = atRest(client);
  const { items: incidents } = await still.list(remediationRequests);
  const { items: executions } = await still.list(workflowExecutions);
  const recorded = events();
  const cli = new TestCli(still, { events: () => recorded });
  const found: string[] = [];
  for (const { metadata } of incidents) found.push(...ofIncident(await ask(metadata.name ?? "", cli), recorded));
  for (const execution of executions) found.push(...(await ofExecution(execution, cli, recorded)));
  return found;
}

/** What is recorded in a directory. */
export async function eventsIn(directory: string): Promise<() => readonly LedgerEvent[]> {
  const events: LedgerEvent[] = [];
  for await (const event of readLedger(directory)) events.push(event);
  return () => events;
}

/** Nothing changes any more, or should not: everything is read once, however many questions are asked. */
function atRest(client: KubeClient): KubeClient {
  const known = new Map<string, unknown>();
  const once = <T>(key: unknown, read: () => T): T => {
    const text = JSON.stringify(key);
    if (!known.has(text)) known.set(text, read());
    return known.get(text) as T;
  };
  return {
    ...client,
    list: (type, query) => once(["list", type.kind, query], () => client.list(type, query)),
    get: (type, ref) => once(["get", type.kind, ref], () => client.get(type, ref)),
  };
}

interface Answer {
  readonly text: string;
  readonly facts: {
    readonly incident: string;
    readonly status?: RemediationRequest["status"];
    readonly recorded?: WorkflowExecution["status"];
    readonly decided?: LedgerEvent;
  };
}

async function ask(name: string, cli: TestCli, ...more: readonly string[]): Promise<Answer> {
  await cli.run("why", name, ...more, "--output", "json");
  const facts = JSON.parse(cli.read());
  await cli.run("why", name, ...more);
  return { facts, text: cli.read() };
}

function ofIncident({ facts, text }: Answer, events: readonly LedgerEvent[]): readonly string[] {
  const { incident, status, decided } = facts;
  const differs = (what: string) => [`${incident}: ${what}\n${text}`];
  if (status?.phase === "Blocked") {
    const { reason, cause, decision } = status.block;
    const event = events.find(({ id }) => id === decision);
    if (!event) return differs(`its block names ${decision}, which is not in the ledger`);
    const recorded = event.facts["reason"] ?? event.facts["skip_reason"];
    if (recorded !== reason) return differs(`blocked for ${reason}, but ${recorded} in the ledger`);
    if (decided?.id !== decision) return differs(`why shows the decision ${decided?.id} instead of ${decision}`);
    const shown = `: ${event.facts["verdict"] ?? "skip"}, ${blockText(reason, cause)}\n`;
    return text.includes(shown) ? [] : differs(`why does not print ${shown}`);
  }
  if (!status || !("outcome" in status) || !status.conditions?.some(({ type }) => type === "Recorded")) return [];
  const end = events.find(({ type, facts }) => type === "incident.closed" && facts["remediation_id"] === incident);
  const { phase, outcome } = status;
  if (end?.facts["phase"] !== phase || end.facts["outcome"] !== outcome)
    return differs(`it is ${phase} ${outcome}, but in the ledger ${end?.facts["phase"]} ${end?.facts["outcome"]}`);
  return text.includes(`outcome      ${outcome}, at ${status.completedAt}`)
    ? []
    : differs(`why does not print ${outcome}`);
}

async function ofExecution(
  execution: WorkflowExecution,
  cli: TestCli,
  events: readonly LedgerEvent[],
): Promise<readonly string[]> {
  const { name = "", namespace = "", uid } = execution.metadata;
  const { status } = execution;
  if (!status || !isRecorded(execution)) return [];
  const { facts, text } = await ask(name, cli, "--namespace", namespace);
  const differs = (what: string) => [`${name}: ${what}\n${text}`];
  const findFacts = (type: string) => events.find(({ id }) => id === `${uid}/execution.${type}`)?.facts;
  switch (status.phase) {
    case "Skipped": {
      const { reason } = status.skipDetails;
      const recorded = findFacts("skipped")?.["skip_reason"];
      if (recorded !== reason) return differs(`skipped for ${reason}, but ${recorded} in the ledger`);
      if (facts.decided?.facts["skip_reason"] !== reason) return differs("why does not show the decision");
      const shown = skipText(status.skipDetails);
      return text.includes(`${shown}:\n`) ? [] : differs(`why does not print ${shown}`);
    }
    case "Failed": {
      const { reason, naturalLanguageSummary } = status.failureDetails;
      const recorded = findFacts("failed")?.["failure_reason"];
      if (recorded !== reason) return differs(`failed with ${reason}, but ${recorded} in the ledger`);
      return text.includes(naturalLanguageSummary.slice(0, 40)) ? [] : differs("why does not print how it failed");
    }
    case "Completed":
      if (!findFacts("completed")) return differs("completed, but not in the ledger");
      return text.includes(`completed at ${status.completionTime}`)
        ? []
        : differs("why does not print that it completed");
    case "Pending":
    case "Running":
      return [];
  }
}
