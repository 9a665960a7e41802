import { describe, expect, it } from "vitest";
import { splitTitle } from "./thread.ts";

describe("the title of a notice", () => {
  it.each([
    ["one sentence", "Workflow clean succeeded in 14s", "Workflow clean succeeded in 14s", ""],
    [
      "a failure with details",
      "Workflow clean failed on node/one after 12s: a step failed (TaskRunFailed). Task disk failed. It had begun to act.",
      "Workflow clean failed on node/one after 12s: a step failed (TaskRunFailed)",
      "Task disk failed. It had begun to act.",
    ],
    [
      "a question",
      "May clean act on node/one, because of DiskFull? No answer by 2026-11-18T08:30:00.000Z is a no",
      "May clean act on node/one, because of DiskFull?",
      "No answer by 2026-11-18T08:30:00.000Z is a no",
    ],
    ["a name with a dot", "web.example.com waits: v1.2 is in use", "web.example.com waits: v1.2 is in use", ""],
    ["nothing", "", "", ""],
  ])("of %s is the first sentence", (_what, text, title, details) => {
    expect(splitTitle(text)).toEqual({ title, details });
  });
});
