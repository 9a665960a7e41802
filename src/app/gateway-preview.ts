import { readFile } from "node:fs/promises";
import { mappedPath, signalPaths } from "./signal-routes.ts";

/** Asks a gateway what it would do about a payload of a source, as a sender whose token is in its file. */
export async function previewAtGateway<Preview>(
  { url, tokenFile }: { readonly url: string; readonly tokenFile: string | undefined },
  source: string,
  payload: unknown,
): Promise<readonly Preview[]> {
  const path = signalPaths.find((one) => one.source === source)?.path ?? mappedPath(source);
  const [, token = ""] = /^(?!#)\S+[ \t]+(\S+)/m.exec(tokenFile ? await readFile(tokenFile, "utf8") : "") ?? [];
  const response = await fetch(`${url}${path}?dryRun=true`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(payload),
  });
  const { results = [] } = (await response.json()) as { readonly results?: readonly Preview[] };
  return results;
}
