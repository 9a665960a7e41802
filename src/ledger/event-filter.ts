import type { LedgerEventType } from "./event-types/index.ts";
import type { LedgerEvent } from "./ledger.ts";

/** Selects events. All given fields have to match. */
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

/** The subjects of an event, by the names that filters use. */
export function listSubjects({ facts }: LedgerEvent) {
  const [, execution] = /^[^/]*\/(.+)$/s.exec(String(facts["execution"] ?? "")) ?? [];
  return {
    target: facts["target_resource"],
    incident: facts["remediation_id"],
    execution,
    execution_id: facts["execution_id"],
  };
}

/** Whether the filter selects an event; the same result as that of a database. */
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
