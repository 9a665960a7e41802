import { demand, demandFields, hasControlCharacters, type ServiceDouble, startHttpDouble } from "./service.ts";

interface Alert {
  readonly key: string;
  readonly messages: string[];
  isResolved: boolean;
}

/**
 * PagerDuty's Events API v2. Rules of developer.pagerduty.com that it enforces, each with 400:
 *
 * - `POST /v2/enqueue` with JSON of at most 512 KB, and no unknown field
 * - `routing_key` of 32 characters that belongs to an integration
 * - `event_action` is `trigger`, `acknowledge` or `resolve`; `dedup_key` has at most 255 characters, and is required for all
 *   but `trigger`
 * - a trigger has a payload with `summary` (at most 1,024 characters), `source` and `severity` (critical, error, warning, info)
 *
 * An event with the key of an open alert is added to it; after its resolution, a trigger opens another alert.
 */
export async function startPagerduty({ routingKey }: { readonly routingKey: string }): Promise<ServiceDouble> {
  const alerts: Alert[] = [];
  const invalid = { status: 400, body: { status: "invalid event", message: "Event object is invalid" } };
  return await startHttpDouble(
    ({ method, path, headers, body }) => {
      demand(method === "POST" && path === "/v2/enqueue", "POST /v2/enqueue", { status: 404 });
      demand(headers["content-type"] === "application/json", "JSON", invalid);
      demand(Buffer.byteLength(body) <= 512 * 1024, "512 KB", { status: 413 });
      const event = JSON.parse(body);
      const known = ["routing_key", "event_action", "dedup_key", "payload", "client", "client_url", "links", "images"];
      demandFields(event, known, "an event", invalid);
      demand(event.routing_key?.length === 32 && event.routing_key === routingKey, "routing_key", invalid);
      demand(["trigger", "acknowledge", "resolve"].includes(event.event_action), "event_action", invalid);
      const key = event.dedup_key;
      demand(typeof key === "string" && key !== "" && key.length <= 255, "dedup_key of 1 to 255 characters", invalid);
      const open = alerts.find((alert) => alert.key === key && !alert.isResolved);
      if (event.event_action === "resolve") {
        if (open) open.isResolved = true;
      } else {
        const { payload } = event;
        demand(typeof payload === "object", "payload", invalid);
        const fields = ["summary", "source", "severity", "timestamp", "component", "group", "class", "custom_details"];
        demandFields(payload, fields, "a payload", invalid);
        const { summary, source, severity } = payload;
        demand(typeof summary === "string" && summary !== "" && summary.length <= 1_024, "summary", invalid);
        demand(typeof source === "string" && source !== "", "source", invalid);
        demand(["critical", "error", "warning", "info"].includes(severity), "severity", invalid);
        const text = [summary, ...Object.values<string>(payload.custom_details)].join("\n");
        demand(!hasControlCharacters(text), "control characters", invalid);
        if (open) open.messages.push(text);
        else alerts.push({ key, messages: [text], isResolved: false });
      }
      return { status: 202, body: { status: "success", message: "Event processed", dedup_key: key } };
    },
    () => alerts,
  );
}
