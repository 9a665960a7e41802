import { describe, expect, it } from "vitest";
import { createProgram } from "../program.ts";
import { candidateLines } from "./complete.ts";
import { type FilterLookup, findCompletion } from "./find-completion.ts";
import { lookUpFilter } from "./look-up.ts";

const unused = () => Promise.reject(new Error("nothing is opened to find what to look up"));
const program = createProgram({ withCommandContext: unused, withServerContext: unused }, () => {});

describe("completion", () => {
  it.each([
    ["ge", ["get"]],
    ["", expect.arrayContaining(["get", "why", "completion", "help"])],
    ["ledger v", ["verify"]],
    ["config ", expect.arrayContaining(["view"])],
    ["get i", ["incidents"]],
    ["--context prod get exec", ["executions"]],
    ["get incidents --ph", ["--phase"]],
    ["get incidents -o y", ["yaml"]],
    ["get incidents --output=js", ["--output=json", "--output=jsonpath"]],
    ["ledger show --from d", ["database"]],
    ["completion z", ["zsh"]],
    ["pause ", expect.arrayContaining(["all", "target"])],
    ["get incidents -w -n x a b --sin", ["--since"]],
    ["nonsense ", expect.not.arrayContaining(["nonsense"])],
  ])("of %j offers %j", (line, expected) => {
    const completion = findCompletion(program, line.split(" "));

    const lines = candidateLines(completion, completion.candidates).slice(0, -1);
    expect(lines.map((one) => one.split("\t")[0])).toEqual(expected);
  });

  it.each([
    ["get incidents ", ["incidents"]],
    ["get incident rr-a ", ["incidents"]],
    ["why ", ["incidents", "executions", "tasks", "target texts"]],
    ["logs ", ["executions", "incidents"]],
    ["approve a ", ["approvals", "incidents"]],
    ["cancel ", ["executions", "incidents", "tasks"]],
    ["run ", ["workflow ids"]],
    ["run clean --target ", ["target texts"]],
    ["get incidents --target=no", ["target texts"]],
    ["get incidents -n ", ["namespaces"]],
    ["get incidents --context ", ["contexts"]],
    ["get incidents --phase ", ["phases of incidents"]],
    ["get execution --reason=Resource", ["reasons of executions"]],
    ["get --phase ", []],
    ["--context ", ["contexts"]],
    ["pause target ", ["target texts"]],
    ["pause workflow ", ["workflow ids"]],
    ["pause target node/a ", []],
    ["resume ", ["pauses"]],
    ["receive generic -p ", ["files"]],
    ["policy test ", ["files"]],
    ["run clean more ", []],
  ])("of %j looks up %j", (line, lookups) => {
    expect(findCompletion(program, line.split(" ")).lookups).toEqual(lookups);
  });

  it.each([
    ["get incidents --phase Failed,Bl", ["Failed,Blocked"]],
    ["get executions --reason=Res", ["--reason=ResourceBusy"]],
    ["get pauses --phase ", ["Active", "Ended"]],
    ["get targets --phase ", []],
  ])("of %j offers the values %j", (line, expected) => {
    const completion = findCompletion(program, line.split(" "));

    const candidates = completion.lookups.flatMap((lookup) => lookUpFilter(lookup as FilterLookup));
    expect(candidateLines(completion, candidates).slice(0, -1)).toEqual(expected);
  });

  it("asks the server that the line names", () => {
    const { server } = findCompletion(program, "--context prod get incidents -n a --data=d ".split(" "));

    expect(server).toEqual({ context: "prod", namespace: "a", data: "d" });
  });

  it("does not offer names that a shell would have to quote", () => {
    const completion = findCompletion(program, ["get", "incidents", ""]);

    const lines = candidateLines(
      completion,
      ["rr-a", "$(reboot)", "a b", "x;y", "`z`"].map((text) => ({ text })),
    );

    expect(lines).toEqual(["rr-a", ":4"]);
  });
});
