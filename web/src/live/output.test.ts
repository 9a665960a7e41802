import { describe, expect, it } from "vitest";
import { ApiError } from "../api.ts";
import { followOutput, type Output } from "./output.ts";

describe("the output of an execution", () => {
  it("is shown until it is complete", async () => {
    expect(await follow([`${line("one")}${line("two")}${end}`])).toEqual(["one two, ended"]);
  });

  it("has each line once after an interruption, also those that were written meanwhile", async () => {
    const shown = await follow([`${line("one")}${line("two")}`, `${line("one")}${line("two")}${line("three")}${end}`]);

    expect(shown).toEqual(["one two, open", "one two, interrupted", "one two, open", "one two three, ended"]);
  });

  it("does not change while the server does not respond, or when it breaks off again before all lines have arrived", async () => {
    const shown = await follow([`${line("one")}${line("two")}`, refusal(0), refusal(503), line("one"), end]);

    expect(shown.slice(1, -1)).toEqual([
      ...Array(3).fill("one two, interrupted"),
      "one two, open",
      "one two, interrupted",
      "one two, open",
    ]);
  });

  it("is not read again when the server refuses it", async () => {
    expect(await follow([line("one"), refusal(404), line("never read")])).toEqual([
      "one, open",
      "one, interrupted",
      "one, failed: refused with 404",
    ]);
  });

  it("names the output that cannot be read until the next attempt", async () => {
    const problem = 'event: problem\ndata: {"message":"no kubelet"}\n\n';

    expect(await follow([`${line("one")}${problem}`, `${line("one")}${end}`])).toEqual([
      "one, open: no kubelet",
      "one, interrupted: no kubelet",
      "one, open",
      "one, ended",
    ]);
  });

  it("is limited to its last 2,000 lines", async () => {
    const lines = Array.from({ length: 2_500 }, (_, i) => line(String(i)));

    const [shown = ""] = await follow([`${lines.join("")}${end}`]);

    expect(shown).toMatch(/^500 501 .* 2499, ended$/);
  });
});

const end = "event: end\ndata: {}\n\n";

function line(text: string): string {
  return `event: line\ndata: ${JSON.stringify({ task: "act", step: "say", text })}\n\n`;
}

function refusal(status: number): ApiError {
  return new ApiError({ type: "about:blank", title: "", status, detail: `refused with ${status}` });
}

/** Follows output whose connections have these bodies, and returns what is shown. */
async function follow(bodies: readonly (string | Error)[]): Promise<readonly string[]> {
  const shown: string[] = [];
  const waiting = [...bodies];
  await followOutput({
    open: async () => {
      const body = waiting.shift();
      if (body instanceof Error) throw body;
      return new Blob([body ?? end]).stream();
    },
    show: (output) => shown.push(describeOutput(output)),
    sleep: async () => undefined,
    signal: new AbortController().signal,
  });
  return shown;
}

function describeOutput({ lines, state, problem }: Output): string {
  return `${lines.map(({ text }) => text).join(" ")}, ${state}${problem === undefined ? "" : `: ${problem}`}`;
}
