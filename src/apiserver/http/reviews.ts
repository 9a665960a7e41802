import { invalidValue } from "../api/problem.ts";
import type { Registry } from "../api/registry.ts";
import type { Resource } from "../api/resource.ts";
import { badRequest, invalid, StatusError } from "../api/status-error.ts";
import { isRecord, member, writeJson } from "../json/json.ts";
import type { Caller } from "./authenticate.ts";
import { isAllowed, objectVerbs } from "./authorize.ts";
import type { Exchange } from "./exchange.ts";
import { contentType } from "./read-body.ts";
import { sendJson } from "./send.ts";

/** Responds to reviews of the caller's rights, which follow from its role. */
export async function handleReview(exchange: Exchange, resource: Resource): Promise<void> {
  const { request, response, method } = exchange;
  if (method !== "POST") throw new StatusError(405, "only create is allowed on reviews", { details: {} });
  const review = await parseReview(exchange, resource, await exchange.bodies.text(request));
  const status = reviewStatus(resource, review, exchange);
  sendJson(response, 201, writeJson({ ...review, metadata: { creationTimestamp: null }, status }));
}

/** The review in the body. Throws 4xx for one that cannot be read, or that is of another kind. */
async function parseReview({ request, bodies }: Exchange, resource: Resource, text: string): Promise<object> {
  const { kind, apiVersion } = resource;
  const type = contentType(request);
  // A SelfSubjectReview contains nothing but its kind, so the protobuf that kubectl sends need not be read.
  const isEmpty = kind === "SelfSubjectReview" && type === "application/vnd.kubernetes.protobuf";
  if (isEmpty) return { kind, apiVersion };
  const { value } = await bodies.parse(text, type, (why) => badRequest(`the review cannot be read: ${why}`));
  if (!isRecord(value)) throw badRequest("the review is not an object");
  if ((value.kind ?? kind) !== kind) throw badRequest(`the review is not of the kind ${kind}`);
  if ((value.apiVersion ?? apiVersion) !== apiVersion)
    throw badRequest(`the API version of the review is not ${apiVersion}`);
  return value;
}

function reviewStatus({ kind, plural }: Resource, review: object, { caller, api }: Exchange): object {
  switch (kind) {
    case "SelfSubjectAccessReview":
      return reviewAccess(review, caller);
    case "SelfSubjectRulesReview":
      return reviewRules(review, caller, api.registry);
    case "SelfSubjectReview":
      return { userInfo: { username: caller.name, groups: caller.groups } };
    default: {
      const message = `this embedded API server has no other users, so it cannot process ${plural}`;
      throw new StatusError(405, message, { details: { kind: plural } });
    }
  }
}

function reviewRules(review: object, caller: Caller, registry: Registry): object {
  const namespace = member(review, "spec", "namespace");
  if (typeof namespace !== "string" || namespace === "") throw badRequest("no namespace on request");
  const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
  return {
    resourceRules: caller.role === "admin" ? [everything] : rulesByResource(caller, registry),
    nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["*"] }],
    incomplete: false,
  };
}

/** A rule can only add rights, so "everything but Secrets" is a rule for each resource. */
function rulesByResource({ role }: Caller, registry: Registry): object[] {
  const names = new Map(registry.all.map(({ group, plural }) => [`${plural}.${group}`, { group, plural }]));
  return [...names.values()].flatMap((resource) => {
    const verbs = objectVerbs.filter((verb) => isAllowed(role, verb, resource));
    return verbs.length === 0 ? [] : [{ verbs, apiGroups: [resource.group], resources: [resource.plural] }];
  });
}

function reviewAccess(review: object, { role }: Caller): object {
  const spec = member(review, "spec");
  const resource = member(spec, "resourceAttributes");
  const nonResource = member(spec, "nonResourceAttributes");
  if (isRecord(resource) === isRecord(nonResource)) {
    const rule = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    const subject = { group: "authorization.k8s.io", kind: "SelfSubjectAccessReview" };
    throw invalid(subject, "", [invalidValue("spec.resourceAttributes", resource ?? null, rule)]);
  }
  const allowed = isRecord(resource) ? canUseResource(role, resource) : canUsePath(nonResource);
  return { allowed, reason: allowed ? `token of the role ${role}` : `the role ${role} does not allow it` };
}

function canUseResource(role: Caller["role"], attributes: object): boolean {
  const [verb, group, resource] = ["verb", "group", "resource"].map((field) => readText(attributes, field));
  return isAllowed(role, verb as string, { group: group as string, plural: resource as string });
}

/** Discovery, versions and health are open to every authenticated caller, and nothing but `get` is served there. */
function canUsePath(attributes: unknown): boolean {
  return readText(attributes, "verb") === "get";
}

function readText(attributes: unknown, field: string): string {
  const value = member(attributes, field) ?? "";
  if (typeof value !== "string") throw badRequest(`spec: ${field} is not a string`);
  return value;
}
