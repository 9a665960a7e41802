import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { leaveReason } from "./leave-reason.ts";

it("the reason of a failure is left in the file of the kubelet", async () => {
  const file = join(temporaryFolder(), "termination-log");
  writeFileSync(file, "");

  await leaveReason("missing rights: patch deployments", file);

  expect(readFileSync(file, "utf8")).toBe("missing rights: patch deployments");
});

it("no file is created where there is no kubelet", async () => {
  const file = join(temporaryFolder(), "termination-log");

  await leaveReason("missing rights: patch deployments", file);

  expect(existsSync(file)).toBe(false);
});

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "interlock-reason-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
