import type { KubeObject } from "../kube/index.ts";
import { annotationKeys } from "../resources/index.ts";
import type { Places } from "./rbac.ts";

/** Lets no user acknowledge a failure, or cancel an execution or incident, in another's name, whatever tool they use. */
export function ackIdentity(places: Places): readonly KubeObject[] {
  const { acknowledgedBy, cancelRequestedBy } = annotationKeys;
  // Nothing was there before it was created, and nobody may be named in advance either.
  const was = (key: string) => `(oldObject == null ? '' : oldObject.metadata.?annotations[?'${key}'].orValue(''))`;
  const is = (key: string) => `object.metadata.?annotations[?'${key}'].orValue('')`;
  const unchanged = (...keys: readonly string[]) => keys.map((key) => `${is(key)} == ${was(key)}`).join(" && ");
  const noAck = unchanged(annotationKeys.acknowledge, acknowledgedBy, annotationKeys.acknowledgedExecution);
  const noCancel = unchanged(annotationKeys.cancelRequested, cancelRequestedBy, annotationKeys.cancelBlocks);
  return enforced("interlock-ack-identity", {
    operations: ["CREATE", "UPDATE"],
    resources: ["workflowexecutions", "remediationtargets", "remediationrequests"],
    // The orchestrator passes a person's word on, from the incident to the target's record and to executions.
    expression: `${isOrchestrator(places)} || ((${noAck} || ${is(acknowledgedBy)} == ${caller}) && (${noCancel} || ${is(cancelRequestedBy)} == ${caller}))`,
    message: `'set the annotation ' + ((${noAck}) ? '${cancelRequestedBy}' : '${acknowledgedBy}') + ' to your own name, ' + ${caller}`,
  });
}

/** Lets nobody answer an approval in another's name. */
export function approvalIdentity(places: Places): readonly KubeObject[] {
  const { is, was, unchanged } = inStatus("decision", "decidedBy", "decidedVia", "decidedAt", "decisionMessage");
  return enforced("interlock-approval-identity", {
    operations: ["UPDATE"],
    resources: ["remediationapprovalrequests/status"],
    // That the time is up is nobody's answer. Whatever the CRD says, an answer that was given stays.
    expression: `(${unchanged}) || (${was("decision")} == '' && ((${is("decision")} == 'Expired' && ${isOrchestrator(places)}) || ${is("decidedBy")} == ${caller}))`,
    message: `${was("decision")} == '' ? 'set status.decidedBy to your own name, ' + ${caller} : 'this was decided already: ' + ${was("decision")}`,
  });
}

/** Lets nobody end a pause in another's name. Who begins one may be a tool that applies what somebody else has written. */
export function resumeIdentity(): readonly KubeObject[] {
  const { is, unchanged } = inStatus("endedAt", "endedBy");
  return enforced("interlock-resume-identity", {
    operations: ["UPDATE"],
    resources: ["automationpauses/status"],
    expression: `(${unchanged}) || ${is("endedBy")} == ${caller}`,
    message: `'set status.endedBy to your own name, ' + ${caller}`,
  });
}

const caller = "request.userInfo.username";

function isOrchestrator({ locks }: Places): string {
  return `${caller} == 'system:serviceaccount:${locks}:interlock-orchestrator'`;
}

/** Texts in the status, and whether they stay as they were. */
function inStatus(...fields: readonly string[]) {
  const of = (object: string, field: string) => `${object}.?status.?${field}.orValue('')`;
  return {
    is: (field: string) => of("object", field),
    was: (field: string) => of("oldObject", field),
    unchanged: fields.map((field) => `${of("object", field)} == ${of("oldObject", field)}`).join(" && "),
  };
}

interface Rule {
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  /** What has to be true of whoever writes what. */
  readonly expression: string;
  /** What else they are told. */
  readonly message: string;
}

/** A policy, and the binding that makes it count everywhere. */
function enforced(name: string, { operations, resources, expression, message }: Rule): readonly KubeObject[] {
  const apiVersion = "admissionregistration.k8s.io/v1";
  const policy = {
    apiVersion,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [{ apiGroups: ["kubernaut.ai"], apiVersions: ["*"], operations, resources }],
      },
      validations: [{ expression, messageExpression: message }],
    },
  };
  const binding = {
    apiVersion,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName: name, validationActions: ["Deny"] },
  };
  return [policy, binding];
}
