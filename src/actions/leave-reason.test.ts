import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { leaveReason } from "./run-action.ts";

it("writes the reason of a failure to the termination log", async () => {
  const file = join(temporaryFolder(), "termination-log");
  writeFileSync(file, "");

  await leaveReason("missing rights: patch deployments", file);

  expect(readFileSync(file, "utf8")).toBe("missing rights: patch deployments");
});

it("creates no file outside of a pod", async () => {
  const file = join(temporaryFolder(), "termination-log");

  await leaveReason("missing rights: patch deployments", file);

  expect(existsSync(file)).toBe(false);
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "interlock-reason-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
