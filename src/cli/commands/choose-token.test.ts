import { describe, expect, it } from "vitest";
import { CommandError } from "../command.ts";
import { chooseToken } from "./receive.ts";

const file = "tokens";
const lines = {
  any: "local token-of-any-source",
  grafana: "grafana token-of-grafana-alone grafana",
  alerts: "alerts token-of-two-sources alertmanager,datadog",
  generic: "plain token-of-plain-signals generic",
  backups: "backups token-of-the-backups backups",
};

describe("the token of interlock receive", () => {
  it.each([
    ["is the first one if that is for all sources", [lines.any, lines.alerts], "alertmanager", "token-of-any-source"],
    ["is not that of another source", [lines.grafana, lines.alerts], "alertmanager", "token-of-two-sources"],
    ["may list several sources", [lines.grafana, lines.alerts], "datadog", "token-of-two-sources"],
    [
      "is that of Alertmanager for its groups",
      [lines.grafana, lines.alerts],
      "alertmanager-groups",
      "token-of-two-sources",
    ],
    ["may be for a source with a mapping", [lines.grafana, lines.backups], "backups", "token-of-the-backups"],
    ["of plain signals is preferred for these", [lines.backups, lines.generic], "generic", "token-of-plain-signals"],
    [
      "of a source without a route may send plain signals",
      [lines.grafana, lines.backups],
      "generic",
      "token-of-the-backups",
    ],
    ["is not in a comment", [`#${lines.any}`, lines.grafana], "grafana", "token-of-grafana-alone"],
    ["is not one that the gateway ignores as too short", ["short token", lines.any], "generic", "token-of-any-source"],
  ])("%s", (_name, given, source, token) => {
    expect(chooseToken(given.join("\n"), source, file)).toBe(token);
  });

  it("is missing if all tokens are for other sources; the error names them and the line to add", () => {
    expect(() => chooseToken(`${lines.grafana}\n${lines.alerts}`, "pagerduty", file)).toThrow(
      new CommandError(
        "no token in tokens may send signals of pagerduty, only of grafana, alertmanager, datadog; " +
          "add a line NAME TOKEN pagerduty, or name another file with --token-file",
      ),
    );
  });

  it("is missing if the file has no sender", () => {
    expect(() => chooseToken("# nothing\n", "generic", file)).toThrow(
      new CommandError("no token in tokens; add a line NAME TOKEN, with a token of 16 characters or more"),
    );
  });
});
