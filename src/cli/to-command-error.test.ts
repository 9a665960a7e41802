import { describe, expect, it } from "vitest";
import { KubeError } from "../kube/index.ts";
import { CommandError, exitStatuses, MisuseError } from "./command.ts";
import { interlock } from "./program.ts";
import { errorStatus } from "./to-command-error.ts";

const unused = () => Promise.reject(new Error("nothing is opened for wrong arguments"));

describe("the exit status", () => {
  it.each([
    ["failed", new CommandError("there is no incident a")],
    ["failed", new Error("anything else")],
    ["failed", new KubeError("invalid", "refused")],
    ["misuse", new MisuseError("unknown kind")],
    ["unavailable", new CommandError("no answer", [], "unavailable")],
    ["unavailable", new KubeError("unavailable", "no answer")],
    ["forbidden", new KubeError("forbidden", "cannot list incidents")],
  ] as const)("is the one for %s after %s", (name, error) => {
    expect(errorStatus(error)).toBe(exitStatuses[name].status);
  });

  it.each(["gte", "get --nothing", "get", "cancel a", "run x --target", "policy"])(
    "is the one for wrong arguments after %j",
    async (line) => {
      const error = await interlock(line.split(" "), { withCommandContext: unused, withServerContext: unused }).catch(
        (error) => error,
      );

      expect(errorStatus(error)).toBe(exitStatuses.misuse.status);
    },
  );

  it("is refused if it is not in the table", async () => {
    const environments = { withCommandContext: unused, withServerContext: async () => 7 };

    await expect(interlock(["get", "incidents"], environments)).rejects.toThrow("exit status 7 is not in the table");
  });
});

describe("as a plugin of kubectl", () => {
  it("errors and examples show how it was called", async () => {
    const typed = interlock(
      ["policy", "tset"],
      { withCommandContext: unused, withServerContext: unused },
      "kubectl interlock",
    );

    await expect(typed).rejects.toThrow(
      "unknown command 'tset' (did you mean test?); see kubectl interlock help policy\n  for example: kubectl interlock policy test --rules rules",
    );
  });
});
