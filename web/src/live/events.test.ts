import { afterEach, describe, expect, it, vi } from "vitest";
import { readEvents, type StreamEvent, splitEvents } from "./events.ts";

const stream = 'id: 7\nevent: beat\ndata: {"a":1}\n\n: comment\n\ndata: one\ndata: two\r\n\r\nevent: reset\ndata:\n\n';
const expected: readonly StreamEvent[] = [
  { id: "7", type: "beat", data: '{"a":1}' },
  { id: undefined, type: "message", data: "one\ntwo" },
  { id: undefined, type: "reset", data: "" },
];

describe("splitEvents", () => {
  it("returns complete events and keeps the beginning of the next one", () => {
    expect(splitEvents(`${stream}data: not yet`)).toEqual({ events: expected, rest: "data: not yet" });
  });
});

describe("readEvents", () => {
  afterEach(() => void vi.useRealTimers());

  it("ends when nothing arrives for 15 seconds, because the connection is dead", async () => {
    vi.useFakeTimers();
    const silent = new ReadableStream<Uint8Array>();

    const next = readEvents(silent).next();
    await vi.advanceTimersByTimeAsync(15_000);

    expect(await next).toEqual({ done: true, value: undefined });
  });

  it.each([1, 2, 3, 7, 1_000])("reads the same events from pieces of %d bytes", async (size) => {
    const events = [];

    for await (const event of readEvents(piecesOf(`${stream}data: é\n\n`, size))) events.push(event);

    expect(events).toEqual([...expected, { id: undefined, type: "message", data: "é" }]);
  });
});

function piecesOf(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
}
