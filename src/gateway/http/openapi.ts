import { contentResponse, openApi, plainOperation as plain, problemResponse as refused } from "../../http/index.ts";
import type { SignalRoute } from "./authenticate.ts";
import { resultStatuses, type SignalResult } from "./results.ts";

/** The OpenAPI document of the gateway. */
export function openApiDocument(
  routes: readonly Pick<SignalRoute, "path" | "reader" | "signature">[],
  taskPaths: readonly string[] = [],
): object {
  const signals = Object.fromEntries(routes.map((route) => [route.path, { post: postOperation(route) }]));
  const tasks = Object.fromEntries(taskPaths.map((path) => [path, { post: postOfGitLab }]));
  return openApi({
    title: "Interlock gateway",
    description: "Receives signals and opens incidents.",
    paths: {
      ...signals,
      ...tasks,
      "/healthz": { get: plain("The process runs.") },
      "/readyz": {
        get: {
          ...plain("Whether the gateway accepts signals."),
          responses: { 200: { description: "Accepts signals." }, 503: { description: "Does not accept signals yet." } },
        },
      },
      "/metrics": { get: plain("Metrics in the Prometheus format.") },
      "/openapi.json": { get: plain("This document.") },
    },
    securitySchemes: {
      token: { type: "http", scheme: "bearer" },
      gitlab: { type: "apiKey", in: "header", name: "X-Gitlab-Token" },
      signature: {
        type: "apiKey",
        in: "header",
        name: "X-PagerDuty-Signature",
        description: "v1= and the HMAC-SHA256 of the body in hexadecimal, by a secret of sources.pagerduty.",
      },
    },
    schemas: { Results: results, TaskResult: taskResult },
  });
}

const retryAfter = { headers: { "Retry-After": { schema: { type: "integer" } } } };

function postOperation({ reader, signature }: Pick<SignalRoute, "reader" | "signature">): object {
  const { source } = reader;
  return {
    summary: `Signals of ${source}`,
    security: [{ token: [] }, ...(signature ? [{ signature: [] }] : [])],
    parameters: [
      {
        name: "dryRun",
        in: "query",
        description:
          "true: report the effect of each signal, of 100 at most, without applying it. The response is 200.",
        schema: { enum: ["true", "false"] },
      },
    ],
    requestBody: { required: true, content: { "application/json": { schema: bodies[source] ?? { type: "object" } } } },
    responses: {
      200: outcome("No incident opened: out of scope (with reason and fix), or nothing to do."),
      201: outcome("Incident opened; the result contains its name."),
      202: outcome("Counted on an open incident, or its end recorded, durably."),
      400: refused("The body is not JSON."),
      401: refused("The token is missing or invalid."),
      403: refused("The token is for other sources."),
      413: refused("The request is too large."),
      415: refused("The body is not application/json."),
      422: refused("The payload contains no valid signal; every problem is listed."),
      429: { ...refused("The sender exceeded its rate, or its limit of open incidents."), ...retryAfter },
      503: { ...outcome("It may not be stored. Send it again; repeats are harmless."), ...retryAfter },
    },
  };
}

const text = { type: "string" };
const texts = { type: "object", additionalProperties: text };
const signal = {
  type: "object",
  required: ["name", "target"],
  additionalProperties: false,
  properties: {
    name: { ...text, maxLength: 253, description: "Name of the signal." },
    target: {
      description: "The subject of the signal.",
      oneOf: [
        { ...text, examples: ["payment/deployment/payment-api", "node/worker-1"] },
        {
          type: "object",
          required: ["kind", "name"],
          properties: { kind: text, name: text, namespace: text, apiVersion: text },
        },
      ],
    },
    severity: { ...text, maxLength: 50, default: "unknown" },
    status: { enum: ["firing", "resolved"], default: "firing" },
    source: { ...text, maxLength: 63, default: "generic" },
    series: { ...text, maxLength: 128, description: "Identity of the series; the target if absent." },
    labels: texts,
    annotations: texts,
    firingTime: { ...text, format: "date-time" },
    endTime: { ...text, format: "date-time" },
  },
};

const bodies: Readonly<Record<string, object>> = {
  generic: {
    oneOf: [
      signal,
      { type: "array", items: signal },
      { type: "object", properties: { signals: { type: "array", items: signal } } },
    ],
  },
  alertmanager: {
    type: "object",
    description: "The webhook of Alertmanager, version 4.",
    required: ["alerts"],
    properties: {
      version: { const: "4" },
      status: { enum: ["firing", "resolved"] },
      truncatedAlerts: { type: "integer" },
      alerts: {
        type: "array",
        items: {
          type: "object",
          required: ["labels"],
          properties: {
            status: { enum: ["firing", "resolved"] },
            labels: texts,
            annotations: texts,
            startsAt: { ...text, format: "date-time" },
            endsAt: { ...text, format: "date-time" },
            fingerprint: text,
          },
        },
      },
    },
  },
};

const resultProperties = {
  status: { enum: resultStatuses },
  limit: { enum: ["sender", "total"], description: "Of `limited`: the limit of open incidents that is reached." },
  message: text,
  incident: text,
  namespace: text,
  fingerprint: text,
  fix: { ...text, description: "A command that removes the reason of the rejection." },
  problems: { type: "array", items: text },
  subject: { ...text, description: "In a dry run: the subject of the signal." },
  target: { ...text, description: "In a dry run: the owner of the subject." },
  spec: { type: "object", description: "In a dry run: the existing or new incident." },
  mapping: {
    type: "array",
    description: "In a dry run: the part of the payload that each field is read from, and its value.",
    items: {
      type: "object",
      required: ["field", "from"],
      properties: { field: text, from: text, value: text, problem: text },
    },
  },
} satisfies Readonly<Record<keyof SignalResult, object>>;

const results = {
  type: "object",
  properties: {
    results: {
      type: "array",
      description: "One result for each signal, in the same order.",
      items: {
        type: "object",
        required: ["status", "message"],
        properties: resultProperties,
      },
    },
    dryRun: { const: true },
    truncatedAlerts: { type: "integer" },
  },
};

const taskResult = {
  type: "object",
  required: ["status"],
  properties: {
    status: { enum: ["queued", "duplicate", "ignored"] },
    task: { ...text, description: "Name of the task." },
    namespace: text,
    reason: { ...text, description: "Why the webhook was ignored, in one word." },
    message: text,
  },
};

const postOfGitLab = {
  summary: "Webhooks of GitLab",
  security: [{ gitlab: [] }],
  parameters: [
    {
      name: "Idempotency-Key",
      in: "header",
      description: "Identifies the delivery, also when it is repeated. Sent by GitLab.",
      schema: text,
    },
  ],
  requestBody: { required: true, content: { "application/json": { schema: { type: "object" } } } },
  responses: {
    200: taskOutcome("Already known, or ignored; the response contains the reason."),
    201: taskOutcome("Task created durably; the response contains its name."),
    400: refused("The body is not JSON."),
    401: refused("X-Gitlab-Token is missing or wrong."),
    403: refused("No secret token is configured, or the address is not allowed."),
    413: refused("The request is too large."),
    415: refused("The body is not application/json."),
    503: { ...refused("It may not be stored. Send it again; repeats are harmless."), ...retryAfter },
  },
};

function taskOutcome(description: string): object {
  return contentResponse(description, "TaskResult");
}

function outcome(description: string): object {
  return contentResponse(description, "Results");
}
