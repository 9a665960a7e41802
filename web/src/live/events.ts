/** One event of a stream of Server-Sent Events. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** The server sends something within a few seconds, at least a comment: after this silence the connection is dead. */
const maxSilenceMs = 15_000;

/**
 * Reads Server-Sent Events out of a body that arrives in pieces. EventSource cannot do it here: it hides the status of a
 * refused request, and it cannot resume from a version that another request returned.
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let text = "";
  try {
    for (;;) {
      const timer = setTimeout(() => void reader.cancel().catch(() => undefined), maxSilenceMs);
      const { value, done } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      const { events, rest } = splitEvents(text + value);
      text = rest;
      yield* events;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The complete events of `text`, and the beginning of the next one. */
export function splitEvents(text: string): { readonly events: readonly StreamEvent[]; readonly rest: string } {
  // A carriage return at the very end may be half of a line break.
  const end = text.endsWith("\r") ? text.length - 1 : text.length;
  const blocks = text.slice(0, end).replace(/\r\n?/g, "\n").split("\n\n");
  const rest = (blocks.pop() ?? "") + text.slice(end);
  return { events: blocks.flatMap((block) => parseEvent(block) ?? []), rest };
}

function parseEvent(block: string): StreamEvent | undefined {
  let type = "message";
  let id: string | undefined;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") type = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  }
  return data.length > 0 || id !== undefined ? { type, data: data.join("\n"), id } : undefined;
}
