import { describe, expect, it } from "vitest";
import { remediationRequests, remediationTargets, workflowExecutions } from "../../resources/index.ts";
import { Table } from "./table.ts";
import type { Line } from "./terminal.ts";

const options = { wide: false, withNamespace: false };
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

    const lines = new Table(kind, options).lines([object("backoff"), object("cooldown")], 0);

    const [, backoff, cooldown] = lines.map(lineText);

    expect(backoff).toMatch(/^backoff +.* Backoff/);
    expect(backoff).not.toContain("RecentlyRemediated");
    expect(cooldown).toContain("RecentlyRemediated");
  });

  it("leaves out empty columns if the terminal is too narrow for all", () => {
    const incident = {
      metadata: { name: "rr-1", creationTimestamp: "1970-01-01T00:00:00Z" },
      spec: { signalName: "DiskFull" },
      status: { phase: "Verifying", outcome: "Remediated" },
    };
    const headings = (maxWidth?: number) => {
      const [line = ""] = new Table(remediationRequests, { ...options, maxWidth }).lines([incident], 60_000);
      return lineText(line).split(/ +/);
    };

    const all = ["NAME", "PHASE", "SIGNAL", "TARGET", "WORKFLOW", "BLOCKED", "OUTCOME", "SEEN", "STALLED", "AGE"];
    expect(headings()).toEqual(all);
    expect(headings(200)).toEqual(all);
    expect(headings(80)).toEqual(["NAME", "PHASE", "SIGNAL", "OUTCOME", "AGE"]);
  });

  it("gives a phase its tone, and shortens names in every cell", () => {
    const hash = "s3rd7pvp".padEnd(52, "0");
    const record = {
      apiVersion: remediationTargets.apiVersion,
      kind: remediationTargets.kind,
      metadata: { name: hash },
      spec: { targetResource: "node/a" },
      status: { holder: { executionName: `rr-${hash}-1-1` } },
    };
    const execution = { metadata: { name: "a" }, status: { phase: "Failed" } };

    const [, row = ""] = new Table(remediationTargets, options).lines([record], 0);
    const [, failed = ""] = new Table(workflowExecutions, options).lines([execution], 0);

    expect(lineText(row)).toMatch(/^s3rd7pvp +node\/a +rr-s3rd7pvp-1-1$/);
    expect(failed).toContainEqual({ text: "Failed", tone: "bad" });
  });
});

function lineText(line: Line): string {
  return typeof line === "string" ? line : line.map((span) => (typeof span === "string" ? span : span.text)).join("");
}
