import { demand, demandFields, hasControlCharacters, type ServiceDouble, startHttpDouble } from "./service.ts";

/**
 * An incoming webhook of Mattermost. Rules of its documentation that it enforces: the secret path (404), JSON (400), a text
 * (400) of at most 16,383 characters (413 stands for the error of the server), and no unknown field.
 *
 * It is stricter than Mattermost where text would be active: all of it has to be in one code block, in which there is no
 * markup and no mention.
 */
export async function startMattermost({ path }: { readonly path: string }): Promise<ServiceDouble> {
  const posted: string[] = [];
  return await startHttpDouble(
    (request) => {
      demand(request.path === path, "unknown webhook", { status: 404 });
      demand(request.headers["content-type"] === "application/json", "JSON", { status: 400 });
      const sent = JSON.parse(request.body);
      demandFields(sent, ["text"], "a webhook", { status: 400 });
      demand(typeof sent.text === "string" && sent.text !== "", "a text", { status: 400 });
      demand(sent.text.length <= 16_383, "16,383 characters", { status: 413 });
      const [, fence = "", text = ""] = /^(`{3,})text\n([\s\S]*)\n\1$/.exec(sent.text) ?? [];
      demand(fence !== "" && !text.includes(fence), "one code block", { status: 400 });
      demand(!hasControlCharacters(text), "control characters", { status: 400 });
      posted.push(text);
      return { status: 200, body: "ok" };
    },
    () => posted.map((text) => ({ messages: [text], isResolved: text.startsWith("[resolved]") })),
  );
}
