import type { KubeObject } from "../kube/index.ts";
import { annotationKeys } from "../resources/index.ts";
import type { Places } from "./rbac.ts";

const name = "interlock-ack-identity";

/** Lets nobody acknowledge a failure in another's name, whatever tool they use. */
export function ackIdentity({ locks }: Places): readonly KubeObject[] {
  const by = annotationKeys.acknowledgedBy;
  // Nothing was there before it was created, and nobody may be named in advance either.
  const was = (key: string) => `(oldObject == null ? '' : oldObject.metadata.?annotations[?'${key}'].orValue(''))`;
  const is = (key: string) => `object.metadata.?annotations[?'${key}'].orValue('')`;
  const unchanged = [annotationKeys.acknowledge, by, annotationKeys.acknowledgedExecution]
    .map((key) => `${is(key)} == ${was(key)}`)
    .join(" && ");
  // The orchestrator passes a person's word on from the incident to the target's record.
  const passedOn = `request.userInfo.username == 'system:serviceaccount:${locks}:interlock-orchestrator'`;
  return [
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicy",
      metadata: { name },
      spec: {
        failurePolicy: "Fail",
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ["kubernaut.ai"],
              apiVersions: ["*"],
              operations: ["CREATE", "UPDATE"],
              resources: ["workflowexecutions", "remediationtargets", "remediationrequests"],
            },
          ],
        },
        validations: [
          {
            expression: `(${unchanged}) || ${passedOn} || ${is(by)} == request.userInfo.username`,
            messageExpression: `'set the annotation ${by} to your own name, ' + request.userInfo.username`,
          },
        ],
      },
    } as KubeObject,
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingAdmissionPolicyBinding",
      metadata: { name },
      spec: { policyName: name, validationActions: ["Deny"] },
    } as KubeObject,
  ];
}
