import { describe, expect, it } from "vitest";
import type { HttpResponse } from "./read-response.ts";
import { type RequestAttempt, retryInMs } from "./retry.ts";
import type { NoResponse } from "./send-request.ts";

const nowMs = Date.parse("2026-05-01T10:00:00Z");

describe("a retry", () => {
  it.each<[string, HttpResponse | NoResponse, { read: boolean; write: boolean }]>([
    ["200", answer(200), { read: false, write: false }],
    ["409", answer(409), { read: false, write: false }],
    ["429", answer(429), { read: true, write: true }],
    ["500", answer(500), { read: false, write: false }],
    ["500 with Retry-After", answer(500, "1"), { read: false, write: false }],
    ["502", answer(502), { read: true, write: false }],
    ["503", answer(503), { read: true, write: false }],
    ["503 with Retry-After", answer(503, "1"), { read: true, write: true }],
    ["504", answer(504), { read: true, write: false }],
    ["no connection", noResponse({ mayHaveArrived: false }), { read: true, write: true }],
    ["a reset", noResponse({ mayHaveArrived: true }), { read: true, write: false }],
    ["a timeout", noResponse({ isTransient: false }), { read: false, write: false }],
    [
      "a certificate that is not trusted",
      noResponse({ isTransient: false, mayHaveArrived: false }),
      { read: false, write: false },
    ],
  ])("after %s", (_what, outcome, { read, write }) => {
    expect(retryInMs(attempt({ outcome, isWrite: false })) !== undefined).toBe(read);
    expect(retryInMs(attempt({ outcome, isWrite: true })) !== undefined).toBe(write);
  });

  it.each([
    [1, 0, 50],
    [1, 0.5, 100],
    [2, 0.5, 200],
    [3, 0.999, 600],
    [4, 0.5, undefined],
  ])("after attempt %i with chance %f comes in %s ms", (tries, chance, delayMs) => {
    const found = retryInMs(attempt({ attempt: tries, chance }));

    expect(found === undefined ? undefined : Math.round(found)).toBe(delayMs);
  });

  it.each([
    ["2", 0, 2_000],
    ["2", 1, 2_500],
    ["Fri, 01 May 2026 10:00:05 GMT", 0, 5_000],
    ["Fri, 01 May 2026 09:00:00 GMT", 0, 0],
    ["soon", 0.5, 100],
    ["3600", 0, undefined],
  ])("comes no earlier than Retry-After %s, and within the call", (retryAfter, chance, delayMs) => {
    expect(retryInMs(attempt({ outcome: answer(429, retryAfter), chance }))).toBe(delayMs);
  });
});

function attempt(given: Partial<RequestAttempt>): RequestAttempt {
  const outcome = noResponse({});
  return { outcome, isWrite: false, attempt: 1, remainingMs: 30_000, wallMs: nowMs, chance: 0.5, ...given };
}

function answer(status: number, retryAfter?: string): HttpResponse {
  return { kind: "response", status, headers: retryAfter ? { "retry-after": retryAfter } : {}, text: "" };
}

function noResponse(given: Partial<NoResponse>): NoResponse {
  return { kind: "no-response", mayHaveArrived: true, isTransient: true, reason: "reset", ...given };
}
