import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemProcesses } from "./system-processes.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "processes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it.each([
  ["a variable", { argv: ["true"], env: { TOKEN: "hun\0ter2" } }],
  ["an argument", { argv: ["true", "hun\0ter2"], env: {} }],
])(
  "a step with the character NUL in %s is not started, and the reason does not repeat the value",
  async (_where, step) => {
    const problem = await systemProcesses().start({ folder, workingDir: folder, outputBytes: 1_000, ...step });

    expect(problem).toBe("an argument or a variable contains the character NUL");
  },
);
