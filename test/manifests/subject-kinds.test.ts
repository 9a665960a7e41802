import { describe, expect, it } from "vitest";
import { permissions } from "../../src/manifests/index.ts";
import { builtInKinds } from "../../src/resources/index.ts";
import { alertmanager, derivedKinds } from "../../src/sources/index.ts";

/** Kinds of the cluster's own; those of custom resources need a right of their own, which the answer to the alert names. */
const builtIn = derivedKinds.filter((kind) => builtInKinds.find(kind.split("/")[0] ?? ""));

describe("every kind that the subject reader derives from labels", () => {
  it.each([
    ["Deployment", { deployment: "a" }],
    ["CronJob", { cronjob: "a" }],
    ["Job", { job_name: "a" }],
    ["HorizontalPodAutoscaler", { horizontalpodautoscaler: "a" }],
    ["PodDisruptionBudget", { poddisruptionbudget: "a" }],
    ["PersistentVolumeClaim", { persistentvolumeclaim: "a" }],
    ["ResourceQuota", { resourcequota: "a" }],
    ["Pod", { pod: "a" }],
    ["Namespace", {}],
  ])("is in the list that the role is checked against: %s", (kind, labels) => {
    expect(kindOf({ namespace: "payment", ...labels })).toBe(kind);
    expect(derivedKinds).toContain(kind);
  });

  it.each(builtIn.flatMap((kind) => (["gateway", "orchestrator"] as const).map((stage) => [stage, kind] as const)))(
    "is readable by the role of the %s: %s",
    (stage, kind) => {
      const { plural, groups } = builtInKinds.find(kind.split("/")[0] ?? "") ?? { plural: "", groups: [""] };

      const given = permissions[stage].filter(
        ({ where, group, resources }) => where === "anywhere" && groups.includes(group) && resources.includes(plural),
      );

      expect(
        given.some(({ verbs }) => verbs.includes("get")),
        `${plural} of ${groups.join(", ")}`,
      ).toBe(true);
    },
  );
});

function kindOf(labels: Readonly<Record<string, string>>): string | undefined {
  const body = {
    version: "4",
    status: "firing",
    alerts: [{ status: "firing", labels: { alertname: "A", ...labels } }],
  };
  const reading = alertmanager.read(body, "2026-11-15T06:00:00.000Z");
  const [first] = reading.kind === "signals" ? reading.readings : [];
  return first?.kind === "signal" ? first.signal.subject?.kind : undefined;
}
