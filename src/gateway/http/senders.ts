import { hash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../time/index.ts";
import { parseSenderLines, type Sender } from "./sender-lines.ts";

interface SendersOptions {
  /** Lines of the same format from the settings, valid until the process ends. */
  readonly fixed: string;
  /** Reads the file of tokens. Undefined if there is none. */
  readonly readFile: (() => Promise<string>) | undefined;
  readonly clock: Clock;
  /** Called when the file cannot be read or has an invalid line. The message never contains its content. */
  readonly onProblem: (sentence: string) => void;
  /** How long the file's content is cached. */
  readonly freshForMs?: number;
}

interface KnownSender extends Sender {
  readonly digest: Buffer;
}

/**
 * Senders by their bearer tokens: one line each, `NAME TOKEN` or `NAME TOKEN SOURCE,SOURCE`. A changed file is read
 * again, so that tokens can be rotated: a token is valid until its line is removed.
 */
export class Senders {
  readonly #options: SendersOptions;
  readonly #fixed: readonly KnownSender[];
  #known: readonly KnownSender[];
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(options: SendersOptions) {
    this.#options = options;
    this.#fixed = parseLines(options.fixed, options.onProblem);
    this.#known = this.#fixed;
  }

  get count(): number {
    return this.#known.length;
  }

  /** The sender with this token. Compares hashes with all tokens, so that the duration reveals nothing. */
  async find(token: string): Promise<Sender | undefined> {
    await this.refresh();
    const presented = hash("sha256", token, "buffer");
    let found: Sender | undefined;
    for (const known of this.#known) if (timingSafeEqual(known.digest, presented)) found ??= known;
    return found;
  }

  async refresh(): Promise<void> {
    const { clock, freshForMs = 5_000, readFile } = this.#options;
    if (!readFile || clock.now() - this.#readAt < freshForMs) return;
    this.#reading ??= this.#read(readFile).finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(readFile: () => Promise<string>) {
    const { clock, onProblem } = this.#options;
    this.#readAt = clock.now();
    try {
      this.#known = [...this.#fixed, ...parseLines(await readFile(), onProblem)];
    } catch (error) {
      // The file may be missing while it is replaced; the tokens read before stay valid until it is read again.
      onProblem(`the file of tokens cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`);
    }
  }
}

function parseLines(text: string, onProblem: (sentence: string) => void): readonly KnownSender[] {
  return parseSenderLines(text, onProblem).map(({ name, token, sources }) => {
    return { name, digest: hash("sha256", token, "buffer"), sources };
  });
}
