import { demand, demandFields, hasControlCharacters, type ServiceDouble, startHttpDouble } from "./service.ts";

/**
 * The webhook of a Teams workflow. Rules of learn.microsoft.com that it enforces:
 *
 * - the path and its signature (401 `DirectApiAuthorizationRequired`), JSON
 * - a message of at most 28 KB (413), with `attachments` of the type of Adaptive Cards
 * - the card has a version of at most 1.5, and only known elements
 *
 * A workflow accepts with 202, and returns nothing. It is stricter than Teams where text would be active: a `TextBlock`
 * contains Markdown, and `{{DATE(…)}}` is replaced.
 */
export async function startTeams({ path }: { readonly path: string }): Promise<ServiceDouble> {
  const posted: { readonly text: string; readonly isResolved: boolean }[] = [];
  const invalid = { status: 400 };
  return await startHttpDouble(
    (request) => {
      demand(request.path === path, "signature", { status: 401 });
      demand(request.headers["content-type"] === "application/json", "JSON", invalid);
      demand(Buffer.byteLength(request.body) <= 28_000, "28 KB", { status: 413 });
      const sent = JSON.parse(request.body);
      demandFields(sent, ["type", "attachments"], "a message", invalid);
      demand(sent.type === "message" && sent.attachments?.length === 1, "one attachment", invalid);
      const [{ contentType, content: card }] = sent.attachments;
      demand(contentType === "application/vnd.microsoft.card.adaptive", "contentType", invalid);
      demandFields(card, ["$schema", "type", "version", "body"], "a card", invalid);
      demand(card.type === "AdaptiveCard" && /^1\.[0-5]$/.test(card.version), "version", invalid);
      const lines: string[] = [];
      for (const element of card.body) {
        demandFields(element, ["type", "inlines"], "an element", invalid);
        demand(element.type === "RichTextBlock", "an element without Markdown", invalid);
        for (const run of element.inlines) {
          demandFields(run, ["type", "text", "weight", "color"], "a run", invalid);
          demand(run.type === "TextRun" && typeof run.text === "string", "a run", invalid);
          demand(!run.text.includes("{{") && !hasControlCharacters(run.text), "active text", invalid);
          lines.push(run.text);
        }
      }
      posted.push({ text: lines.join("\n"), isResolved: lines[1] === "resolved" });
      return { status: 202 };
    },
    () => posted.map(({ text, isResolved }) => ({ messages: [text], isResolved })),
  );
}
