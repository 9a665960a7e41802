import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageFolder, startCommand } from "./package.ts";

it("errors name npm start in a clone of the repository, and interlock up where the package is installed", () => {
  const installed = mkdtempSync(join(tmpdir(), "interlock-package-"));

  const commands = [startCommand(packageFolder), startCommand(installed)];
  rmSync(installed, { recursive: true });

  expect(commands).toEqual(["npm start", "interlock up"]);
});
