import type { IncomingMessage } from "node:http";
import { type Clock, Pacer } from "../../time/index.ts";
import { StatusError, unsupportedMedia } from "../api/status-error.ts";
import { JsonSyntaxError, type Parsed, parseJson } from "../json/parse-json.ts";
import { YamlReader } from "./yaml-reader.ts";

/** As on the real server. */
const maxBodyBytes = 3 * 1_024 * 1_024;

/** In characters. A longer JSON body takes milliseconds to parse and to check, so it waits for the pacer. */
const pacedLength = 16 * 1_024;

/** Reads and parses the bodies of all requests of one server. */
export class BodyReader {
  readonly #pacer: Pacer;
  readonly #yaml: YamlReader;

  constructor(clock: Clock) {
    this.#pacer = new Pacer(clock);
    this.#yaml = new YamlReader({ clock });
  }

  /** The whole body as text. Throws 413 as soon as it is known to be too long. */
  async text(request: IncomingMessage): Promise<string> {
    const text = await readText(request);
    if (text.length > pacedLength) await this.#pacer.turn();
    return text;
  }

  /** Parses the text of a body by its content type. `refuse` makes the error for a text that cannot be parsed. */
  async parse(text: string, type: string, refuse: (why: string) => StatusError): Promise<Parsed> {
    try {
      return await this.#parse(text, type);
    } catch (error) {
      throw error instanceof JsonSyntaxError ? refuse(error.message) : error;
    }
  }

  close(): Promise<void> {
    return this.#yaml.close();
  }

  async #parse(text: string, type: string): Promise<Parsed> {
    if (type === "" || type === "application/json") return parseJson(text);
    if (type === "application/yaml") return parseYaml(text, this.#yaml);
    if (type === "application/vnd.kubernetes.protobuf") {
      const instead =
        "use application/json or application/yaml; with kubectl: create -f, apply -f or replace -f a file";
      throw unsupportedMedia(`protobuf bodies are not supported by this server: ${instead}`);
    }
    const accepted = "application/json, application/yaml";
    throw unsupportedMedia(
      `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
    );
  }
}

function readText(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return reject(tooLarge());
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) {
        request.removeAllListeners("data");
        request.pause();
        return reject(tooLarge());
      }
      chunks.push(chunk);
    });
    request.on("end", () => resolve(chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()));
    request.on("error", reject);
    request.on("close", () => {
      if (!request.complete) reject(new StatusError(400, "the request ended before its body"));
    });
  });
}

function tooLarge(): StatusError {
  const message = `Request entity too large: limit is ${maxBodyBytes}`;
  return new StatusError(413, message);
}

/** `application/json` of `application/json; charset=utf-8`; empty without a header. */
export function contentType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** JSON is valid YAML, and many programs send it as YAML: it is read as JSON, which is much faster. */
async function parseYaml(text: string, yaml: YamlReader): Promise<Parsed> {
  if (/^\s*[{[]/.test(text)) {
    try {
      return { value: parseJson(text).value, duplicates: [] };
    } catch (error) {
      if (!(error instanceof JsonSyntaxError)) throw error;
    }
  }
  return { value: await yaml.read(text), duplicates: [] };
}
