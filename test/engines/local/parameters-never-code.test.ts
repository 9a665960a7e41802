import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Step } from "../../../src/engines/local/pipeline/spec.ts";
import { createsFile, type Hostile, isAccepted } from "./interpreter-campaign.ts";
import { runCampaign } from "./run-interpreter-campaign.ts";

const x = "$(params.x)";
const list = "$(params.l[*])";

describe("parameters never become code", () => {
  it("no label value creates a file, in a sample of accepted spellings of the interpreters on this machine", {
    timeout: 300_000,
  }, async () => {
    const report = await runCampaign({ batches: 6, seed: 20261116 });

    expect(report.failure).toBeUndefined();
    // Otherwise nothing was accepted, and nothing was executed.
    expect(report.executed).toBeGreaterThan(5);
  });

  // Ways to run a label value as code; the first of them were missed by a list of patterns.
  const touch: Hostile = ({ forbidden }) => `touch ${forbidden}`;
  const touchList: Hostile = ({ forbidden }) => ["touch", forbidden];
  const bypasses: readonly (readonly [string, Step, Hostile])[] = [
    ["sh -ce", { command: ["sh", "-ce", `true ${x}`] }, ({ forbidden }) => `; touch ${forbidden} #`],
    ["sh -c --", { command: ["sh", "-c", "--", `true "${x}"`] }, ({ forbidden }) => `$(touch ${forbidden})`],
    ["bash +ec", { command: ["bash", "+ec", x] }, touch],
    ["python3 -c", { command: ["python3", "-Ic", x] }, ({ forbidden }) => `open('${forbidden}', 'w')`],
    ["node --eval=", { command: ["node", `--eval=${x}`] }, ({ evil }) => `require('${evil}/code.cjs')`],
    ["node after its code", { command: ["node", "-e", "1", x] }, ({ evil }) => `--eval=require('${evil}/code.cjs')`],
    ["env -S", { command: ["env", `-S${x}`] }, touch],
    ["env -S with a shell", { command: ["env", "-S", "sh -c", x] }, touch],
    ["perl -e", { command: ["perl", `-${x}`] }, ({ forbidden }) => `esystem('touch ${forbidden}')`],
    ["perl after its code", { command: ["perl", "-e", "1;", x] }, ({ forbidden }) => `-esystem('touch ${forbidden}')`],
    ["perl with files", { command: ["perl", "-ne", "1", x] }, ({ forbidden }) => `touch ${forbidden}|`],
    ["perl code with files", { command: ["perl", "-e", "print while <>", "--", x] }, (at) => `touch ${at.forbidden}|`],
    [
      "a perl script with files",
      { script: "#!/usr/bin/perl\nprint <>;\n", args: [x] },
      (at) => `touch ${at.forbidden}|`,
    ],
    ["awk", { command: ["awk", x] }, ({ forbidden }) => `BEGIN { system("touch ${forbidden}") }`],
    ["sed", { command: ["sed", x] }, ({ forbidden }) => `w${forbidden}`],
    ["sed after its code", { command: ["sed", "p", x] }, ({ forbidden }) => `-ew${forbidden}`],
    ["find", { command: ["find", ".", list] }, ({ forbidden }) => ["-exec", "touch", forbidden, ";"]],
    ["flock -c", { command: ["flock", "./lock", "-c", x] }, touch],
    ["timeout", { command: ["timeout", "5", list] }, touchList],
    ["xargs", { command: ["xargs", list] }, touchList],
    ["a variable in place of the program", { command: ["A=/bin/echo", list] }, touchList],
    ["BASH_ENV", { command: ["bash", "-c", ":"], env: [{ name: "BASH_ENV", value: x }] }, ({ evil }) => `${evil}/code`],
    ["PATH", { command: ["/bin/sh", "-c", "ls"], env: [{ name: "PATH", value: x }] }, ({ evil }) => `${evil}/bin`],
    ["a file as script", { command: ["sh", x] }, ({ evil }) => `${evil}/code`],
    ["the program", { command: [x] }, ({ evil }) => `${evil}/code`],
  ];

  it.each(bypasses)("a label value that would create a file is refused in: %s", async (_what, step, hostile) => {
    expect(isAccepted(step)).toBe(false);
    expect(await createsFile(step, hostile)).toBe(true);
  });

  it("a parameter never chooses the directory that a step runs in", () => {
    expect(isAccepted({ command: ["sh", "run.sh"], workingDir: x })).toBe(false);
    expect(isAccepted({ command: ["sh", "run.sh"], workingDir: "/srv" })).toBe(true);
  });

  it("a variable that programs read as code does not take a parameter, whatever its name", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("LD_", "DYLD_", "BASH", "GIT_", "PYTHON", "PERL5", "RUBY"),
        fc.stringMatching(/^[A-Z]{1,8}$/),
        (prefix, rest) => !isAccepted({ script: "true", env: [{ name: `${prefix}${rest}`, value: `a${x}` }] }),
      ),
    );
  });
});
