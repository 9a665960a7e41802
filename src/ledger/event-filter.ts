import type { LedgerEvent, LedgerEventType } from "./ledger.ts";

/** Which events are wanted. All that is given has to fit. */
export interface EventFilter {
  readonly target?: string | undefined;
  readonly incident?: string | undefined;
  /** Its name, or its uid. */
  readonly execution?: string | undefined;
  readonly type?: LedgerEventType | undefined;
  /** From this moment on, in milliseconds since 1970. */
  readonly sinceMs?: number | undefined;
  /** Before this moment. */
  readonly untilMs?: number | undefined;
}

/** What an event is about, by the names that filters use. */
export function listSubjects({ facts }: LedgerEvent) {
  const [, execution] = /^[^/]*\/(.+)$/s.exec(String(facts["execution"] ?? "")) ?? [];
  return {
    target: facts["target_resource"],
    incident: facts["remediation_id"],
    execution,
    execution_id: facts["execution_id"],
  };
}

/** Whether an event is one of those wanted; the same answer as a database gives. */
export function isWanted(event: LedgerEvent, filter: EventFilter): boolean {
  const { target, incident, execution, execution_id } = listSubjects(event);
  const atMs = Date.parse(event.at);
  return (
    (filter.target === undefined || filter.target === target) &&
    (filter.incident === undefined || filter.incident === incident) &&
    (filter.execution === undefined || [execution, execution_id].includes(filter.execution)) &&
    (filter.type === undefined || filter.type === event.type) &&
    (filter.sinceMs === undefined || atMs >= filter.sinceMs) &&
    (filter.untilMs === undefined || atMs < filter.untilMs)
  );
}
