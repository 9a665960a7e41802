import { expect, it } from "vitest";
import type { RemediationRequest } from "../../resources/index.ts";
import { promMetrics } from "../../telemetry/index.ts";
import { orchestratorMetrics } from "./metrics.ts";

it("counts blocked incidents by the check that blocks them", async () => {
  const metrics = promMetrics();
  const incidents = [
    incident("Blocked", "PreviousExecutionFailed"),
    incident("Blocked", "PreviousExecutionFailed"),
    incident("Blocked", "ResourceBusy"),
    // What blocked it before it ran no longer counts.
    incident("Executing", "Ineffective"),
  ];
  orchestratorMetrics(metrics, { list: () => incidents });

  const text = await metrics.text();

  expect(text).toContain('ro_blocked_incidents{reason="PreviousExecutionFailed"} 2');
  expect(text).toContain('ro_blocked_incidents{reason="ResourceBusy"} 1');
  expect(text).toContain('ro_blocked_incidents{reason="Ineffective"} 0');
});

function incident(phase: string, reason: string): RemediationRequest {
  return { metadata: { name: "rr" }, status: { phase, block: { reason } } } as RemediationRequest;
}
