import type { ReportSubject } from "./ignored-report.ts";
import type { ReportOutcome } from "./task-reports.ts";

export const reportedObjects = ["merge_request", "note", "other"] as const;

/** What one request of a sender came to. */
export interface TaskReport {
  /** What it is about, for figures. */
  readonly object: (typeof reportedObjects)[number];
  readonly outcome: ReportOutcome;
  /** What it is about, for the record; as far as it says. */
  readonly subject?: ReportSubject;
}

/** Port: turns what a forge posts into tasks. Pure, and never throws for what is posted. */
export interface TaskReader {
  read(body: unknown, receivedAt: string): TaskReport;
}
