import { badRequest, StatusError } from "../api/status-error.ts";
import { isRecord, member } from "../json/json.ts";
import { writeJson } from "../json/write-json.ts";
import { sendJson } from "./answer.ts";
import type { Caller } from "./authenticate.ts";
import type { Exchange } from "./exchange.ts";
import { contentType, parseBody, readText } from "./read-body.ts";

/** Answers questions about what the caller may do. There are two roles and no rules, so there is little to ask. */
export async function handleReview(exchange: Exchange, plural: string): Promise<void> {
  const { request, response, caller, method } = exchange;
  if (method !== "POST")
    throw new StatusError(405, "only create is allowed on reviews", { reason: "MethodNotAllowed", details: {} });
  const value = questionOf(exchange, plural, await readText(request));
  if (!isRecord(value)) throw badRequest("the review is not an object");
  const status = statusOf(plural, value, caller);
  sendJson(response, 201, writeJson({ ...value, metadata: { creationTimestamp: null }, status }));
}

/** "Who am I?" says nothing but its kind, so the protobuf that kubectl sends need not be read. */
function questionOf({ request, segments }: Exchange, plural: string, text: string): unknown {
  const type = contentType(request);
  const empty = plural === "selfsubjectreviews" && type === "application/vnd.kubernetes.protobuf";
  if (empty) return { kind: "SelfSubjectReview", apiVersion: `${segments[1]}/${segments[2]}` };
  return parseBody(text, type).value;
}

function statusOf(plural: string, review: object, caller: Caller): object {
  switch (plural) {
    case "selfsubjectaccessreviews":
      return accessOf(member(review, "spec"), caller);
    case "selfsubjectrulesreviews": {
      const verbs = caller.role === "admin" ? ["*"] : readingVerbs;
      return {
        resourceRules: caller.role === "none" ? [] : [{ verbs, apiGroups: ["*"], resources: ["*"] }],
        nonResourceRules: [{ verbs: ["get"], nonResourceURLs: ["*"] }],
        incomplete: false,
      };
    }
    case "selfsubjectreviews":
      return { userInfo: { username: caller.name, groups: caller.groups } };
    default: {
      const message = `this embedded API server knows no other users, so it cannot answer ${plural}`;
      throw new StatusError(405, message, { reason: "MethodNotAllowed", details: { kind: plural } });
    }
  }
}

const readingVerbs = ["get", "list", "watch"];

function accessOf(spec: unknown, { role }: Caller): object {
  const verb = member(member(spec, "resourceAttributes") ?? member(spec, "nonResourceAttributes"), "verb");
  const allowed = role === "admin" || (role === "read-only" && readingVerbs.includes(String(verb)));
  return { allowed, reason: allowed ? `token of the role ${role}` : `the role ${role} does not allow it` };
}
