import { Agent } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { mute, type ScriptedServer, scriptedServer, text } from "../../../test/http-client/scripted-server.ts";
import { sendRequest } from "./send-request.ts";

let server: ScriptedServer;
afterEach(() => server.close());

describe("a request", () => {
  let clock: ManualClock;
  beforeEach(() => {
    clock = new ManualClock();
  });

  it("sends nothing when it is stopped before it begins", async () => {
    server = await scriptedServer(mute);

    const outcome = await started(AbortSignal.abort());

    expect(outcome).toMatchObject({ kind: "no-response", mayHaveArrived: false });
    expect(server.requests).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it("leaves no timer behind when the response begins", async () => {
    server = await scriptedServer(text("hello"));

    const outcome = await started(new AbortController().signal);

    expect(outcome.kind).toBe("response");
    expect(clock.pendingTimers).toBe(0);
  });

  it("times out when a server accepts the request and does not respond", async () => {
    server = await scriptedServer(mute);

    const outcome = started(new AbortController().signal);
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(200);

    expect(await outcome).toMatchObject({
      mayHaveArrived: true,
      isTransient: false,
      reason: "no response within 200 ms",
    });
    expect(clock.pendingTimers).toBe(0);
  });

  function started(stop: AbortSignal) {
    const { hostname, port } = new URL(server.url);
    const ask = { method: "GET", server: { protocol: "http:", hostname, port }, path: "/", headers: {} } as const;
    return sendRequest(ask, { agent: new Agent(), clock, limits: { connectMs: 100, headersMs: 200 } }, stop);
  }
});
