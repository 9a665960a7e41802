import { createServer } from "node:http";
import type { PromMetrics } from "../telemetry/index.ts";
import { listening } from "./servers.ts";

/** Serves the figures of a stage that has no HTTP of its own, and whether it is ready. Nowhere unless told where. */
export async function serveMetrics(
  listen: { readonly host: string; readonly port: number } | undefined,
  metrics: PromMetrics,
  readiness: () => { readonly isReady: boolean; readonly problem?: string | undefined },
): Promise<{ readonly url: string; close(): Promise<void> } | undefined> {
  if (!listen) return undefined;
  const server = createServer(async ({ url }, response) => {
    const say = (status: number, text: string, type = "text/plain; charset=utf-8") =>
      response.writeHead(status, { "content-type": type }).end(text);
    if (url === "/healthz") return say(200, "ok\n");
    if (url === "/readyz") {
      const { isReady, problem } = readiness();
      if (isReady && problem === undefined) return say(200, "ready\n");
      return say(503, `${problem ?? "not yet"}\n`);
    }
    if (url !== "/metrics") return say(404, "there is /metrics, /healthz and /readyz\n");
    return metrics.text().then(
      (text) => say(200, text, metrics.contentType),
      () => say(500, "the figures cannot be read; the log says why\n"),
    );
  });
  await listening(
    "metrics.listen",
    listen,
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(listen.port, listen.host, resolve);
    }),
  );
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : listen.port;
  return {
    url: `http://${listen.host}:${port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
