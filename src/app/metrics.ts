import { createServer } from "node:http";
import type { PromMetrics } from "../telemetry/index.ts";
import { awaitListening } from "./servers.ts";

/** Serves metrics and readiness of a stage that has no HTTP server of its own. Does nothing without an address. */
export async function serveMetrics(
  listen: { readonly host: string; readonly port: number } | undefined,
  metrics: PromMetrics,
  readiness: () => { readonly isReady: boolean; readonly problem?: string | undefined },
): Promise<{ readonly url: string; close(): Promise<void> } | undefined> {
  if (!listen) return undefined;
  const server = createServer(async ({ url }, response) => {
    const respond = (status: number, text: string, type = "text/plain; charset=utf-8") =>
      response.writeHead(status, { "content-type": type }).end(text);
    if (url === "/healthz") return respond(200, "ok\n");
    if (url === "/readyz") {
      const { isReady, problem } = readiness();
      if (isReady && problem === undefined) return respond(200, "ready\n");
      return respond(503, `${problem ?? "not yet"}\n`);
    }
    if (url !== "/metrics") return respond(404, "not found; use /metrics, /healthz or /readyz\n");
    return metrics.text().then(
      (text) => respond(200, text, metrics.contentType),
      () => respond(500, "the metrics cannot be read; see the log\n"),
    );
  });
  await awaitListening(
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
