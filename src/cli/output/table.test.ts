import { describe, expect, it } from "vitest";
import { remediationRequests, workflowExecutions } from "../../resources/index.ts";
import { Table } from "./table.ts";

const options = { wide: false, nameOf: (name: string) => name };
const recent = { reason: "RecentlyRemediated", message: "" };

describe("a table", () => {
  it.each([
    ["incidents", remediationRequests, (cause: string) => ({ phase: "Blocked", block: { ...recent, cause } })],
    ["executions", workflowExecutions, (cause: string) => ({ phase: "Skipped", skipDetails: { ...recent, cause } })],
  ])("of %s does not list repeated failures as RecentlyRemediated", (_plural, kind, status) => {
    const object = (cause: string) => ({
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: { name: cause },
      status: status(cause),
    });

    const [, backoff, cooldown] = new Table(kind, options).lines([object("backoff"), object("cooldown")], 0);

    expect(backoff).toMatch(/^backoff +.* Backoff/);
    expect(backoff).not.toContain("RecentlyRemediated");
    expect(cooldown).toContain("RecentlyRemediated");
  });
});
