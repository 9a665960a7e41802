import type { IncomingMessage } from "node:http";
import { systemClock } from "../../src/time/index.ts";

export interface WatchedEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  };
}

/** An open watch and what came over it. */
export class Watched {
  readonly #response: IncomingMessage;
  readonly #clock = systemClock();
  readonly openedAt = this.#clock.now();
  readonly events: WatchedEvent[] = [];
  endedAt: number | undefined;
  cleanly = false;
  #wake = () => {};

  constructor(response: IncomingMessage) {
    this.#response = response;
    let rest = "";
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim()) this.events.push(JSON.parse(line));
      this.#wake();
    });
    for (const ending of ["end", "error", "close"]) response.on(ending, () => this.#ended(ending === "end"));
  }

  /** The next `count` events, or fewer when they do not come in time. */
  async read(
    count: number,
    { withinMs, bookmarks = false }: { withinMs: number; bookmarks?: boolean },
  ): Promise<WatchedEvent[]> {
    const read: WatchedEvent[] = [];
    const deadline = this.#clock.now() + withinMs;
    while (read.length < count) {
      const event = this.events.shift();
      if (event && (bookmarks || event.type !== "BOOKMARK")) read.push(event);
      else if (!event && !(await this.#news(deadline))) break;
    }
    return read;
  }

  /** Whether the stream ends in time. */
  async end(withinMs: number): Promise<boolean> {
    const deadline = this.#clock.now() + withinMs;
    while (this.endedAt === undefined && (await this.#news(deadline)));
    return this.endedAt !== undefined;
  }

  close(): void {
    this.#response.destroy();
  }

  #ended(cleanly: boolean) {
    if (this.endedAt === undefined) {
      this.endedAt = this.#clock.now();
      this.cleanly = cleanly;
    }
    this.#wake();
  }

  /** Waits for something to happen; false when nothing can or did. */
  #news(deadline: number): Promise<boolean> {
    if (this.endedAt !== undefined || this.#clock.now() >= deadline) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = this.#clock.after(deadline - this.#clock.now(), () => resolve(true));
      this.#wake = () => {
        timer.cancel();
        resolve(true);
      };
    });
  }
}
