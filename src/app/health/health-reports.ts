import type { HealthArea, HealthProblem } from "../../resources/index.ts";

/** Replaces the problems that a part of the process reported before. */
export type ReportHealth = (messages: readonly string[]) => void;

/** The current problems of this process that no object shows. */
export class HealthReports {
  readonly #reports: { readonly area: HealthArea; messages: readonly string[] }[] = [];

  /** Each part of the process has a report of its own, which it replaces whenever its problems change. */
  reporter(area: HealthArea): ReportHealth {
    const report = { area, messages: [] as readonly string[] };
    this.#reports.push(report);
    return (messages) => {
      report.messages = messages;
    };
  }

  list(): readonly HealthProblem[] {
    const problems = new Map<string, HealthProblem>();
    for (const { area, messages } of this.#reports) {
      for (const message of messages) problems.set(`${area} ${message}`, { area, message });
    }
    return [...problems.values()];
  }
}
