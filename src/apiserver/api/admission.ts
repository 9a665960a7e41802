import type { KubeObject } from "../../kube/index.ts";
import { celValue } from "../structural/cel-value.ts";
import { compileAdmission, type Expression } from "../structural/compiled.ts";
import type { Resource } from "./resource.ts";
import { forbidden, StatusError } from "./status-error.ts";

/** The part of a ValidatingAdmissionPolicy that is evaluated here. A rule matches by exact names and by `*`. */
export interface AdmissionPolicy extends KubeObject {
  readonly spec: {
    readonly matchConstraints: { readonly resourceRules: readonly ResourceRule[] };
    readonly validations: readonly { readonly expression: string; readonly messageExpression?: string }[];
  };
}

interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  /** `plural`, or `plural/subresource`. */
  readonly resources: readonly string[];
}

/** A write, before the object is known. */
export interface AttemptedWrite {
  readonly username: string;
  readonly resource: Resource;
  readonly subresource?: string | undefined;
}

/** Throws StatusError if a policy denies that `object` replaces `old`, which is undefined for a new object. */
export type Admit = (object: KubeObject, old: KubeObject | undefined) => void;

export type Admission = (write: AttemptedWrite) => Admit;

/** Evaluates policies as an API server in a cluster does. Throws for an expression that cannot be compiled. */
export function admission(policies: readonly AdmissionPolicy[]): Admission {
  const compiled = policies.map(compile);
  return (write) => (object, old) => {
    for (const policy of compiled) {
      if (isMatched(policy.rules, write, old === undefined ? "CREATE" : "UPDATE")) check(policy, write, object, old);
    }
  };
}

interface CompiledPolicy {
  readonly name: string;
  readonly rules: readonly ResourceRule[];
  readonly validations: readonly { readonly isValid: Expression; readonly message: Expression | undefined }[];
}

function compile({ metadata, spec }: AdmissionPolicy): CompiledPolicy {
  return {
    name: metadata.name ?? "",
    rules: spec.matchConstraints.resourceRules,
    validations: spec.validations.map(({ expression, messageExpression }) => ({
      isValid: compileAdmission(expression),
      message: messageExpression === undefined ? undefined : compileAdmission(messageExpression),
    })),
  };
}

function isMatched(rules: readonly ResourceRule[], { resource, subresource }: AttemptedWrite, operation: string) {
  const { group, version, plural } = resource;
  const wanted = subresource ? `${plural}/${subresource}` : plural;
  const isIn = (list: readonly string[], value: string) => list.includes("*") || list.includes(value);
  return rules.some(
    ({ apiGroups, apiVersions, operations, resources }) =>
      isIn(apiGroups, group) && isIn(apiVersions, version) && isIn(operations, operation) && isIn(resources, wanted),
  );
}

function check({ name, validations }: CompiledPolicy, write: AttemptedWrite, object: KubeObject, old?: KubeObject) {
  const { resource, username } = write;
  const context = {
    object: celValue(object, resource.schema),
    oldObject: old === undefined ? null : celValue(old, resource.schema),
    request: { userInfo: { username } },
  };
  for (const { isValid, message } of validations) {
    if (evaluate(isValid, context) === true) continue;
    const why = message && evaluate(message, context);
    const reason = typeof why === "string" ? why : "the expression of the policy is not true";
    throw deniedError(write, object, `ValidatingAdmissionPolicy '${name}' denied request: ${reason}`);
  }
}

/** An expression that fails allows nothing: `failurePolicy: Fail`. */
function evaluate(expression: Expression, context: object): unknown {
  try {
    return expression(context);
  } catch {
    return undefined;
  }
}

/** As in a cluster: worded as forbidden, with the code for invalid content. */
function deniedError({ resource }: AttemptedWrite, { metadata }: KubeObject, why: string): StatusError {
  const { message = "", details = {} } = forbidden(resource, metadata.name ?? "", why).status;
  return new StatusError(422, message, { details });
}
