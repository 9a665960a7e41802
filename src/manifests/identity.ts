import type { AdmissionPolicy } from "../apiserver/index.ts";
import type { KubeObject } from "../kube/index.ts";
import { annotationKeys } from "../resources/index.ts";
import type { Places } from "./rbac.ts";

/** The policies about names for an API server on which the stages and all operators are one user, `onlyUser`. */
export function identityPolicies(onlyUser: string): readonly AdmissionPolicy[] {
  return [ackPolicy(undefined), approvalPolicy(onlyUser), resumePolicy()];
}

/** The user name of the orchestrator in a cluster. */
function orchestratorUser({ locks }: Places): string {
  return `system:serviceaccount:${locks}:interlock-orchestrator`;
}

export function ackIdentity(places: Places): readonly KubeObject[] {
  return withBinding(ackPolicy(orchestratorUser(places)));
}

export function approvalIdentity(places: Places): readonly KubeObject[] {
  return withBinding(approvalPolicy(orchestratorUser(places)));
}

export function resumeIdentity(): readonly KubeObject[] {
  return withBinding(resumePolicy());
}

/**
 * Rejects acknowledgements and cancellations in another user's name, from any client. The orchestrator copies them from the
 * incident to the target's record and to executions. Where it is a user of its own, it may write any name; otherwise it writes
 * the name of the request, and may remove an acknowledgement.
 */
function ackPolicy(orchestrator: string | undefined): AdmissionPolicy {
  const { acknowledge, acknowledgedBy, acknowledgedExecution } = annotationKeys;
  const { cancelRequested, cancelRequestedBy, cancelBlocks } = annotationKeys;
  const noAck = isUnchanged(acknowledge, acknowledgedBy, acknowledgedExecution);
  const noCancel = isUnchanged(cancelRequested, cancelRequestedBy, cancelBlocks);
  const ownAck = `${is(acknowledgedBy)} == ${caller}`;
  const ownCancel = `${is(cancelRequestedBy)} == ${caller}`;
  const ackTakenOff = `(${was(acknowledgedBy)} == ${caller} && ${is(acknowledgedBy)} == '' && ${is(acknowledge)} == '')`;
  return policy("interlock-ack-identity", {
    operations: ["CREATE", "UPDATE"],
    resources: ["workflowexecutions", "remediationtargets", "remediationrequests"],
    expression:
      orchestrator === undefined
        ? `(${noAck} || ${ownAck} || ${ackTakenOff}) && (${noCancel} || ${ownCancel})`
        : `${caller} == '${orchestrator}' || ((${noAck} || ${ownAck}) && (${noCancel} || ${ownCancel}))`,
    message: `'set the annotation ' + ((${noAck}) ? '${cancelRequestedBy}' : '${acknowledgedBy}') + ' to your own name, ' + ${caller}`,
  });
}

/** Rejects answers to approvals in another user's name. Only `orchestrator` may write an expiry. */
function approvalPolicy(orchestrator: string): AdmissionPolicy {
  const { is, was, unchanged } = inStatus("decision", "decidedBy", "decidedVia", "decidedAt", "decisionMessage");
  return policy("interlock-approval-identity", {
    operations: ["UPDATE"],
    resources: ["remediationapprovalrequests/status"],
    // An expiry has no author. Regardless of the CRD, a given answer is final.
    expression: `(${unchanged}) || (${was("decision")} == '' && ((${is("decision")} == 'Expired' && ${caller} == '${orchestrator}') || ${is("decidedBy")} == ${caller}))`,
    message: `${was("decision")} == '' ? 'set status.decidedBy to your own name, ' + ${caller} : 'this was decided already: ' + ${was("decision")}`,
  });
}

/**
 * Rejects the end of a pause in another user's name. The start is never rejected for its name: a pause only makes the system
 * safer, and a tool may apply the manifest of a user.
 */
function resumePolicy(): AdmissionPolicy {
  const { is, unchanged } = inStatus("endedAt", "endedBy");
  return policy("interlock-resume-identity", {
    operations: ["UPDATE"],
    resources: ["automationpauses/status"],
    expression: `(${unchanged}) || ${is("endedBy")} == ${caller}`,
    message: `'set status.endedBy to your own name, ' + ${caller}`,
  });
}

const caller = "request.userInfo.username";

/** The annotation of the object after the write. */
function is(key: string): string {
  return `object.metadata.?annotations[?'${key}'].orValue('')`;
}

/** The annotation of the object before the write; empty when it is created, so that a new object needs a valid name, too. */
function was(key: string): string {
  return `(oldObject == null ? '' : oldObject.metadata.?annotations[?'${key}'].orValue(''))`;
}

function isUnchanged(...keys: readonly string[]): string {
  return keys.map((key) => `${is(key)} == ${was(key)}`).join(" && ");
}

/** Expressions about fields of the status. */
function inStatus(...fields: readonly string[]) {
  const of = (object: string, field: string) => `${object}.?status.?${field}.orValue('')`;
  return {
    is: (field: string) => of("object", field),
    was: (field: string) => of("oldObject", field),
    unchanged: fields.map((field) => `${of("object", field)} == ${of("oldObject", field)}`).join(" && "),
  };
}

interface AdmissionRule {
  readonly operations: readonly string[];
  readonly resources: readonly string[];
  /** The condition on the user of a write. */
  readonly expression: string;
  /** An additional message for the user. */
  readonly message: string;
}

const apiVersion = "admissionregistration.k8s.io/v1";

function policy(name: string, { operations, resources, expression, message }: AdmissionRule): AdmissionPolicy {
  const spec = {
    failurePolicy: "Fail",
    matchConstraints: {
      resourceRules: [{ apiGroups: ["kubernaut.ai"], apiVersions: ["*"], operations, resources }],
    },
    validations: [{ expression, messageExpression: message }],
  };
  return { apiVersion, kind: "ValidatingAdmissionPolicy", metadata: { name }, spec };
}

/** A policy with a binding for all namespaces. */
function withBinding(policy: AdmissionPolicy): readonly KubeObject[] {
  const { name = "" } = policy.metadata;
  const spec = { policyName: name, validationActions: ["Deny"] };
  const binding = { apiVersion, kind: "ValidatingAdmissionPolicyBinding", metadata: { name }, spec };
  return [policy, binding];
}
