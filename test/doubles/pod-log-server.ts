import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface ContainerLog {
  readonly lines: { readonly at: string; readonly text: string }[];
  hasEnded: boolean;
  readonly followers: Set<ServerResponse>;
}

/** The parameters of pods/log that Kubernetes 1.32 documents and we use; anything else is refused. */
const parameters = new Set(["container", "follow", "timestamps", "sinceTime", "tailLines"]);

/**
 * A strict double of `GET /api/v1/namespaces/NS/pods/NAME/log`, which needs kubelets. As the real one, it answers 404 for
 * an unknown pod, 400 for an unknown container or a wrong parameter and 403 without the right, reads `sinceTime` to the
 * second, prefixes each line with its time in nanoseconds without trailing zeros, and ends a followed log with its container.
 */
export class PodLogServer {
  readonly queries: URLSearchParams[] = [];
  isForbidden = false;
  readonly #logs = new Map<string, ContainerLog>();
  readonly #server = createServer((request, response) => this.#answer(request, response));

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A container writes a line at a time such as `2026-03-01T12:00:00.5`. */
  write(pod: string, container: string, { at, text }: { readonly at: string; readonly text: string }): void {
    const log = this.#log(pod, container);
    log.lines.push({ at, text });
    for (const follower of log.followers) follower.write(`${at}Z ${text}\n`);
  }

  end(pod: string, container: string): void {
    const log = this.#log(pod, container);
    log.hasEnded = true;
    for (const follower of log.followers) follower.end();
  }

  /** Cuts all connections, as an API server that restarts. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  get followers(): number {
    return [...this.#logs.values()].reduce((sum, { followers }) => sum + followers.size, 0);
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #log(pod: string, container: string): ContainerLog {
    const key = `${pod}/${container}`;
    const log = this.#logs.get(key) ?? { lines: [], hasEnded: false, followers: new Set<ServerResponse>() };
    this.#logs.set(key, log);
    return log;
  }

  #answer({ method, url = "", headers }: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams: query } = new URL(url, "http://server");
    this.queries.push(query);
    const [, namespace, pod = ""] = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/log$/.exec(pathname) ?? [];
    const container = query.get("container") ?? "";
    if (method !== "GET" || namespace !== "runs")
      return refuse(response, 404, "the server could not find the resource");
    if (!/text\/plain|\*\/\*/.test(headers.accept ?? "")) return refuse(response, 406, "only text/plain can be served");
    if (this.isForbidden) {
      return refuse(response, 403, 'pods "p" is forbidden: User "kim" cannot get resource "pods/log" in API group ""');
    }
    const problem = queryProblem(query);
    if (problem !== undefined) return refuse(response, 400, problem);
    if (![...this.#logs.keys()].some((key) => key.startsWith(`${pod}/`))) {
      return refuse(response, 404, `pods "${pod}" not found`);
    }
    const log = this.#logs.get(`${pod}/${container}`);
    if (!log) return refuse(response, 400, `container ${container} is not valid for pod ${pod}`);
    response.writeHead(200, { "content-type": "text/plain" });
    response.flushHeaders();
    for (const { at, text } of wanted(log, query)) response.write(`${at}Z ${text}\n`);
    if (query.get("follow") !== "true" || log.hasEnded) return void response.end();
    log.followers.add(response);
    response.on("close", () => log.followers.delete(response));
  }
}

function queryProblem(query: URLSearchParams): string | undefined {
  const unknown = [...query.keys()].find((name) => !parameters.has(name));
  if (unknown !== undefined) return `unknown parameter ${unknown}`;
  const since = query.get("sinceTime");
  if (since !== null && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(since)) return `sinceTime ${since} is not RFC 3339`;
  const tail = query.get("tailLines");
  if (tail !== null && !/^\d+$/.test(tail)) return `tailLines ${tail} is not a number`;
  return query.get("timestamps") === "true" ? undefined : "the double expects timestamps";
}

function wanted({ lines }: ContainerLog, query: URLSearchParams) {
  const since = query.get("sinceTime")?.slice(0, 19) ?? "";
  const tail = query.get("tailLines");
  const found = lines.filter(({ at }) => at.slice(0, 19) >= since);
  if (tail === null) return found;
  return tail === "0" ? [] : found.slice(-Number(tail));
}

function refuse(response: ServerResponse, code: number, message: string): void {
  const status = { kind: "Status", apiVersion: "v1", status: "Failure", code, message };
  response.writeHead(code, { "content-type": "application/json" }).end(JSON.stringify(status));
}
