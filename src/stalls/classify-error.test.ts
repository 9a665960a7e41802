import { describe, expect, it } from "vitest";
import { KubeError } from "../kube/index.ts";
import { classifyError, errorText } from "./classify-error.ts";

describe("the reason of a stall", () => {
  it.each([
    [new KubeError("unavailable", 'failed calling webhook "webhook.pipeline.tekton.dev"'), "WebhookFailed"],
    [new KubeError("forbidden", "pods is forbidden: exceeded quota: small"), "QuotaExceeded"],
    [new KubeError("forbidden", "cannot create pipelineruns"), "Forbidden"],
    [new KubeError("invalid", "status.phase: required"), "Invalid"],
    [new KubeError("unavailable", "connect ECONNREFUSED"), "Unavailable"],
    [new Error("lock a", { cause: new KubeError("forbidden", "cannot create leases") }), "Forbidden"],
    [new TypeError("x is undefined"), "Error"],
  ])("of %s is %s", (error, reason) => {
    expect(classifyError(error)).toBe(reason);
  });
});

describe("the error text of a stall", () => {
  it("is one bounded line without secrets", async () => {
    const error = new Error(`POST https://kim:hunter2@host/x failed for password1\n\u001b[31m${"y".repeat(5_000)}`);

    const text = await errorText(error, (text) => text.replace("password1", "[redacted]"));

    expect(text).toMatch(/^POST https:\/\/\[redacted\]@host\/x failed for \[redacted\] /);
    expect(text).not.toContain("\u001b");
    expect(text).not.toContain("\n");
    expect(text.length).toBeLessThanOrEqual(1_001);
  });
});
