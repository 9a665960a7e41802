import { demand, demandFields, hasControlCharacters, type ServiceDouble, startHttpDouble } from "./service.ts";

interface Alert {
  readonly alias: string;
  readonly messages: string[];
  isResolved: boolean;
}

/** The documented maximum lengths. */
const limits = { message: 130, alias: 512, description: 15_000, entity: 512, source: 100, note: 25_000, user: 100 };

/**
 * Opsgenie's Alert API. Rules of docs.opsgenie.com that it enforces:
 *
 * - `Authorization: GenieKey KEY` (401)
 * - JSON with a message, the documented fields and lengths, priorities P1 to P5, at most 20 tags of 50 characters (422)
 * - an alert is closed and commented by its alias only with `identifierType=alias` (else it is an id, which is unknown: 404)
 *
 * Requests are accepted with 202. A request with the alias of an open alert is counted there; after that one is closed, it
 * opens another.
 */
export async function startOpsgenie({ apiKey }: { readonly apiKey: string }): Promise<ServiceDouble> {
  const alerts: Alert[] = [];
  const invalid = { status: 422, body: { message: "Request body is not processable." } };
  const accepted = { status: 202, body: { result: "Request will be processed" } };
  return await startHttpDouble(
    ({ method, path, headers, body }) => {
      const url = new URL(path, "http://opsgenie");
      demand(headers.authorization === `GenieKey ${apiKey}`, "API key", { status: 401 });
      demand(method === "POST" && headers["content-type"] === "application/json", "JSON", invalid);
      const sent = JSON.parse(body);
      for (const [field, max] of Object.entries(limits)) {
        const value = sent[field];
        demand(value === undefined || (typeof value === "string" && value.length <= max), `${field}: ${max}`, invalid);
        demand(!hasControlCharacters(value ?? ""), `control characters in ${field}`, invalid);
      }
      const find = (alias: string) => alerts.find((alert) => alert.alias === alias && !alert.isResolved);
      if (url.pathname === "/v2/alerts") {
        demandFields(sent, [...Object.keys(limits), "priority", "tags", "details", "responders"], "an alert", invalid);
        demand(typeof sent.message === "string" && sent.message !== "", "message", invalid);
        demand(/^P[1-5]$/.test(sent.priority ?? "P3"), "priority", invalid);
        const tags: readonly string[] = sent.tags ?? [];
        demand(tags.length <= 20 && tags.every((tag) => tag.length <= 50), "tags", invalid);
        // A repeated alert keeps its texts.
        if (!find(sent.alias)) alerts.push({ alias: sent.alias, messages: [sent.description], isResolved: false });
        return accepted;
      }
      const [, alias = "", action = ""] = /^\/v2\/alerts\/([^/]+)\/(close|notes)$/.exec(url.pathname) ?? [];
      demand(action !== "" && url.searchParams.get("identifierType") === "alias", "identifierType", { status: 404 });
      demandFields(sent, ["note", "source", "user"], action, invalid);
      demand(action === "close" || sent.note, "note", invalid);
      const alert = find(decodeURIComponent(alias));
      if (alert && sent.note) alert.messages.push(sent.note);
      if (alert && action === "close") alert.isResolved = true;
      return accepted;
    },
    () => alerts,
  );
}
