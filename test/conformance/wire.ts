import { Agent, type IncomingMessage, request as send } from "node:http";
import type { RecordedRequest } from "./scenario.ts";

export interface Answer {
  readonly status: number | undefined;
  readonly contentType: string | undefined;
  readonly warnings: readonly string[];
  readonly body: unknown;
  readonly text: string;
}

/** A connection to the server under test: as plain as can be, so that nothing between hides what it answers. */
export class Wire {
  readonly #base: URL;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });

  constructor(url: string, token: string) {
    this.#base = new URL(url);
    this.#token = token;
  }

  async ask(recorded: RecordedRequest): Promise<Answer> {
    return await answerOf(await this.open(recorded));
  }

  open(recorded: RecordedRequest): Promise<IncomingMessage> {
    const { method, path, query, body, rawBody } = recorded;
    const text = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const given = Object.entries(recorded.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
    const headers: Record<string, string> = {
      accept: "application/json",
      authorization: `Bearer ${this.#token}`,
      ...(text === undefined
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(text)) }),
      ...Object.fromEntries(given),
    };
    return new Promise((resolve, reject) => {
      const outgoing = send(
        {
          host: this.#base.hostname,
          port: this.#base.port,
          method,
          path: path + queryText(query),
          agent: this.#agent,
          headers,
        },
        resolve,
      );
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function queryText(query: RecordedRequest["query"] = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one as string)}`),
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

export async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return parsed(response, Buffer.concat(chunks).toString());
}

export function parsed(response: IncomingMessage, text: string): Answer {
  const warnings = response.rawHeaders.filter((_, i, all) => i % 2 === 1 && all[i - 1]?.toLowerCase() === "warning");
  return {
    status: response.statusCode,
    contentType: response.headers["content-type"],
    warnings,
    body: bodyOf(text),
    text,
  };
}

function bodyOf(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}
