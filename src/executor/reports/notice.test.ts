import { expect, it } from "vitest";
import type { Snapshot } from "../snapshot.ts";
import { endNotice } from "./notice.ts";

it("a skip after repeated failures is not reported as a recent remediation", () => {
  const notice = endNotice(skipped("backoff"));

  expect(notice?.spec.message).toContain("failed here before it could act, and waits before the next attempt");
  expect(notice?.spec.context).not.toHaveProperty("recentRemediation");
});

it("a skip after a success names the recent remediation", () => {
  const notice = endNotice(skipped("cooldown"));

  expect(notice?.spec.message).toContain("The same workflow ran on this resource a short while ago");
  expect(notice?.spec.context).toMatchObject({ recentRemediation: "wfe-a" });
});

function skipped(cause: "backoff" | "cooldown"): Snapshot {
  const skipDetails = { reason: "RecentlyRemediated", cause, recentRemediation: { name: "wfe-a" } };
  const spec = { workflowRef: { workflowId: "cleanup" }, targetResource: "node/a" };
  const metadata = { name: "wfe-b", namespace: "default", uid: "b" };
  return { execution: { metadata, spec, status: { phase: "Skipped", skipDetails } }, plan: {} } as unknown as Snapshot;
}
