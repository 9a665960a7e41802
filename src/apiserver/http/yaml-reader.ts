import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { maxYamlDepth, yamlDepth } from "../../kube/index.ts";
import type { Clock, Timer } from "../../time/index.ts";
import { StatusError } from "../api/status-error.ts";
import { JsonSyntaxError, parseJson } from "../json/parse-json.ts";

export interface YamlReaderOptions {
  readonly clock: Clock;
  readonly limits?: YamlLimits;
}

export interface YamlLimits {
  /** Of one body, in characters. JSON bodies may be larger: they are read a hundred times faster. */
  readonly maxLength: number;
  /** For one body, after which its reading is aborted. */
  readonly timeoutMs: number;
  /** Bodies that wait for their turn; more are rejected with 503. */
  readonly maxWaiting: number;
}

const defaultLimits: YamlLimits = { maxLength: 256 * 1_024, timeoutMs: 2_000, maxWaiting: 32 };

/**
 * Reads YAML in a thread of its own, one body at a time. Parsing a few hundred kilobytes of YAML can take seconds, and on
 * the main thread every other request would wait for it; a thread can also be ended when it takes too long.
 */
export class YamlReader {
  readonly #clock: Clock;
  readonly #limits: YamlLimits;
  readonly #queue: Job[] = [];
  #worker: Worker | undefined;
  #current: { readonly job: Job; readonly timer: Timer } | undefined;
  #closed = false;

  constructor({ clock, limits = defaultLimits }: YamlReaderOptions) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Reads `text` as JSON would be read. Throws JsonSyntaxError, and StatusError when a limit is exceeded. */
  async read(text: string): Promise<unknown> {
    const { maxLength, maxWaiting } = this.#limits;
    if (text.length > maxLength) throw tooLarge(maxLength);
    if (yamlDepth(text) > maxYamlDepth) throw new JsonSyntaxError(`exceeded max depth of ${maxYamlDepth}`);
    if (this.#closed || this.#queue.length >= maxWaiting) throw busy();
    const json = await new Promise<string>((resolve, reject) => {
      this.#queue.push({ text, resolve, reject });
      this.#next();
    });
    return parseJson(json).value;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const { reject } of this.#queue.splice(0)) reject(busy());
    this.#finish(({ reject }) => reject(busy()));
    await this.#endWorker();
  }

  #next() {
    if (this.#current || this.#closed) return;
    const job = this.#queue.shift();
    if (!job) return;
    this.#worker ??= this.#startWorker();
    this.#current = { job, timer: this.#clock.after(this.#limits.timeoutMs, () => this.#abort(tooSlow())) };
    this.#worker.postMessage(job.text);
  }

  #startWorker(): Worker {
    const yaml = pathToFileURL(createRequire(import.meta.url).resolve("yaml")).href;
    const resourceLimits = { maxOldGenerationSizeMb: 128 };
    const worker = new Worker(workerSource, { eval: true, workerData: yaml, execArgv: [], resourceLimits });
    // An idle reader must not keep the process alive.
    worker.unref();
    worker.on("message", ({ json, problem }: { json: string; problem?: string }) => {
      if (this.#worker !== worker) return;
      this.#finish(({ resolve, reject }) => (problem ? reject(new JsonSyntaxError(problem)) : resolve(json)));
      this.#next();
    });
    // Out of memory, for example. The next body gets a new thread.
    worker.on("error", () => this.#worker === worker && this.#abort(tooSlow()));
    return worker;
  }

  #abort(error: StatusError) {
    this.#finish(({ reject }) => reject(error));
    void this.#endWorker();
    this.#next();
  }

  #finish(end: (job: Job) => void) {
    const current = this.#current;
    this.#current = undefined;
    if (!current) return;
    current.timer.cancel();
    end(current.job);
  }

  async #endWorker() {
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }
}

interface Job {
  readonly text: string;
  readonly resolve: (json: string) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Plain JavaScript, so that it runs the same from TypeScript sources, from tests and from a build. Duplicate keys are
 * allowed as in JSON bodies: looking for them takes quadratic time. It returns JSON because the main thread reads that ten
 * times faster than a cloned object, and integers of 64 bits stay exact.
 */
const workerSource = `
const { parentPort, workerData } = require("node:worker_threads");
const toJson = (value) => {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) throw new Error(value + " is not a JSON number");
  if (typeof value !== "object" || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return "[" + value.map(toJson).join(",") + "]";
  return "{" + Object.entries(value).map(([key, part]) => JSON.stringify(key) + ":" + toJson(part)).join(",") + "}";
};
import(workerData).then(({ parseDocument }) => parentPort.on("message", (text) => {
  try {
    const document = parseDocument(text, { intAsBigInt: true, uniqueKeys: false, prettyErrors: false });
    const [problem] = document.errors;
    if (problem) parentPort.postMessage({ problem: problem.message.split("\\n")[0] });
    else parentPort.postMessage({ json: toJson(document.toJS({ maxAliasCount: 50 })) });
  } catch (error) {
    parentPort.postMessage({ problem: String(error.message) });
  }
}));`;

function tooLarge(maxLength: number): StatusError {
  const message = `a YAML body may have ${maxLength} characters; send JSON instead, which may have 3 MiB`;
  return new StatusError(413, message);
}

function tooSlow(): StatusError {
  return new StatusError(413, "the YAML body takes too long to read; send JSON instead");
}

function busy(): StatusError {
  const message = "too many YAML bodies are being read; send JSON, or try again";
  return new StatusError(503, message, { details: { retryAfterSeconds: 1 } });
}
