import { describe, expect, it } from "vitest";
import type { IncidentRow } from "../../src/console/wire.ts";
import { commandLine, newKey, parseScope, rowChanges } from "./operations.ts";

describe("an operation as a command line", () => {
  it.each([
    ["ack", { object: "payment/rr-1", reason: "looked" }, "interlock ack rr-1 -n payment --reason looked"],
    ["approve", { object: "a-1", reason: "it's fine" }, "interlock approve a-1 --reason 'it'\\''s fine'"],
    ["reject", { object: "n/a-1", reason: "$(reboot)" }, "interlock reject a-1 -n n --reason '$(reboot)'"],
    [
      "pause",
      { scope: ["namespace", "payment"], for: "2h", reason: "r" },
      "interlock pause namespace payment --for 2h --reason r",
    ],
    ["resume", { object: "n/pause-1", reason: "r" }, "interlock resume pause-1 --reason r"],
    [
      "retry",
      { object: `n/rr-${"0a1b".repeat(13)}-1`, reason: "-x" },
      "interlock retry rr-0a1b0a1b-1 -n n --reason=-x",
    ],
    ["cancel", { object: "n/e-1", block: true, reason: "r" }, "interlock cancel e-1 -n n --block --reason r"],
    [
      "run",
      {
        workflow: "clean",
        target: "node/w 1",
        parameters: { keep: "7 days" },
        namespace: "n",
        approval: "a-1",
        reason: "",
      },
      "interlock run clean --target 'node/w 1' --param 'keep=7 days' -n n --approval a-1",
    ],
  ] as const)("%s", (operation, request, expected) => {
    expect(commandLine(operation, request)).toBe(expected);
  });
});

it("splits a scope into the words of the command line", () => {
  expect(parseScope("  namespace   payment ")).toEqual(["namespace", "payment"]);
});

it("lists the fields of a row that changed, but not its version or another report of the problem", () => {
  const before = { version: "1", phase: "Blocked", reason: "Paused", seen: 1 } as IncidentRow;
  const after = { version: "2", phase: "Executing", seen: 2, workflow: "clean" } as IncidentRow;

  expect(rowChanges(before, after)).toEqual([
    { field: "phase", before: "Blocked", after: "Executing" },
    { field: "reason", before: "Paused", after: "" },
    { field: "workflow", before: "", after: "clean" },
  ]);
});

it("makes idempotency keys of the length and characters that the server accepts", () => {
  expect(newKey((bytes) => bytes.fill(0xab))).toMatch(/^[a-f0-9]{32}$/);
});
