import type { KubeClient, KubeObject, ResourceType } from "../../kube/index.ts";
import { type OperationName, operationNames } from "../../operate/index.ts";
import { rowTypes } from "../rows/index.ts";
import { rowKinds } from "../wire.ts";
import type { Viewer } from "./identity.ts";

/** A right that the API server reviews. */
interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
}

/** The write of each operation. A caller without this right cannot perform it on any object. */
const operationRights: Readonly<Record<OperationName, Right>> = {
  ack: { verb: "patch", resource: "remediationrequests" },
  approve: { verb: "patch", resource: "remediationapprovalrequests", subresource: "status" },
  reject: { verb: "patch", resource: "remediationapprovalrequests", subresource: "status" },
  pause: { verb: "create", resource: "automationpauses" },
  resume: { verb: "patch", resource: "automationpauses", subresource: "status" },
  cancel: { verb: "patch", resource: "workflowexecutions" },
  run: { verb: "create", resource: "workflowexecutions" },
  retry: { verb: "create", resource: "workflowexecutions" },
};

interface AccessReview extends KubeObject {
  readonly spec: { readonly resourceAttributes: Readonly<Record<string, string>> };
  readonly status?: { readonly allowed?: boolean };
}

const selfSubjectAccessReviews: ResourceType<AccessReview> = {
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  plural: "selfsubjectaccessreviews",
  namespaced: false,
};

/** The operations and reads that the API server allows a user. */
export type Access = Pick<Viewer, "operations" | "readableKinds">;

/**
 * Asks the API server what the user of `client` may do: operations in the namespace of incidents, where their objects are, and
 * rows of all namespaces, because the console does not filter them by the rights of each namespace.
 */
export async function reviewAccess(client: KubeClient, incidentsIn: string): Promise<Access> {
  async function isAllowed(right: Right, namespace?: string): Promise<boolean> {
    const { apiVersion, kind } = selfSubjectAccessReviews;
    const resourceAttributes = { group: "kubernaut.ai", ...right, ...(namespace !== undefined && { namespace }) };
    const review: AccessReview = { apiVersion, kind, metadata: {}, spec: { resourceAttributes } };
    const outcome = await client.create(selfSubjectAccessReviews, review);
    return outcome.kind === "created" && outcome.object.status?.allowed === true;
  }

  const [operations, readableKinds] = await Promise.all([
    keepAllowed(operationNames, (name) => isAllowed(operationRights[name], incidentsIn)),
    keepAllowed(rowKinds, (kind) => isAllowed({ verb: "list", resource: rowTypes[kind].type.plural })),
  ]);
  return { operations, readableKinds };
}

async function keepAllowed<T>(all: readonly T[], isAllowed: (one: T) => Promise<boolean>): Promise<readonly T[]> {
  const allowed = await Promise.all(all.map(isAllowed));
  return all.filter((_, i) => allowed[i]);
}
