import type { KubeObject } from "../../kube/index.ts";
import { type FieldProblem, invalidValue } from "../api/problem.ts";
import { member } from "../json/json.ts";
import { ageColumn, nameColumn, textColumn } from "../tables/column.ts";
import { defineResource } from "./define-resource.ts";

/** coordination.k8s.io/v1. An update needs a resourceVersion, and creates a Lease that does not exist. */
export const leases = defineResource({
  kind: "Lease",
  plural: "leases",
  group: "coordination.k8s.io",
  unconditionalUpdate: false,
  createdByUpdate: true,
  fields: {
    spec: {
      type: "object",
      properties: {
        holderIdentity: { type: "string" },
        leaseDurationSeconds: { type: "integer", format: "int32" },
        acquireTime: { type: "string", format: "micro-time" },
        renewTime: { type: "string", format: "micro-time" },
        leaseTransitions: { type: "integer", format: "int32" },
        strategy: { type: "string" },
        preferredHolder: { type: "string" },
      },
    },
  },
  columns: [
    nameColumn,
    textColumn("Holder", (object) => member(object, "spec", "holderIdentity") ?? "", {
      description:
        "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, " +
        "the holder identity must be equal to the elected LeaseCandidate.metadata.name field.",
    }),
    ageColumn("string"),
  ],
  prepare: (draft) => {
    // Both belong to a feature that is off by default on the real server, too.
    const { strategy: _, preferredHolder: __, ...spec } = (draft.spec ?? {}) as Record<string, unknown>;
    draft.spec = spec;
  },
  problems: leaseProblems,
});

function leaseProblems(object: KubeObject): FieldProblem[] {
  const spec = member(object, "spec");
  const problems: FieldProblem[] = [];
  const duration = member(spec, "leaseDurationSeconds");
  if (typeof duration === "number" && duration <= 0) {
    problems.push(invalidValue("spec.leaseDurationSeconds", duration, "must be greater than 0"));
  }
  const transitions = member(spec, "leaseTransitions");
  if (typeof transitions === "number" && transitions < 0) {
    problems.push(invalidValue("spec.leaseTransitions", transitions, "must be greater than or equal to 0"));
  }
  return problems;
}
