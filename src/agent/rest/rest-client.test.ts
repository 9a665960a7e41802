import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock, systemRandom } from "../../time/index.ts";
import { type AccessToken, type RestRequest, restClient } from "./rest-client.ts";

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

describe("a response", () => {
  it.each([
    [401, "denied"],
    [403, "denied"],
    [404, "missing"],
    [409, "refused"],
    [422, "refused"],
    [429, "unavailable"],
    [500, "unavailable"],
    [503, "unavailable"],
  ])("with %i is an error %s", async (status, kind) => {
    const asking = ask({ method: "POST" }, (_, response) => response.writeHead(status).end("{}"));

    await expect(asking).rejects.toMatchObject({ kind, status });
  });

  it.each([
    ['{"message":["Another open merge request already exists"]}', /: \["Another open merge request already exists"\]$/],
    ['{"error":"insufficient_scope","error_description":"needs more"}', /: needs more$/],
    ['{"errorMessages":["no such issue"],"errors":{}}', /no such issue/],
    ["plain\n words", /: plain words$/],
    ["<html>a page of a proxy</html>", /to POST things$/],
    ["", /responded 400 to POST things$/],
  ])("with %j is in the message", async (body, message) => {
    const asking = ask({ method: "POST" }, (_, response) => response.writeHead(400).end(body));

    await expect(asking).rejects.toMatchObject({ kind: "refused", message });
  });

  it("that repeats our token is in the message without it", async () => {
    const asking = ask({ method: "POST" }, (request, response) =>
      response.writeHead(400).end(`bad token ${request.headers["x-token"]}`),
    );

    await expect(asking).rejects.toMatchObject({ message: /bad token \*\*\*$/ });
  });

  it("with a redirect is not followed", async () => {
    let requests = 0;
    const asking = ask({}, (_, response) => {
      requests++;
      response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
    });

    await expect(asking).rejects.toMatchObject({ kind: "refused", status: 302 });
    expect(requests).toBe(1);
  });

  it("that never ends is cut off", async () => {
    const megabyte = Buffer.alloc(1024 * 1024, "x");
    const asking = ask({ method: "POST" }, (_, response) => {
      const more = () => {
        while (response.write(megabyte));
        response.once("drain", more);
      };
      more();
    });

    await expect(asking).rejects.toMatchObject({ kind: "refused", message: /more than 67108864 bytes/ });
  });

  it("that is not JSON is an error that mentions the URL", async () => {
    const asking = ask({}, (_, response) => response.end("<html>sign in</html>"));

    await expect(asking).rejects.toMatchObject({ kind: "refused", message: /not JSON/ });
  });

  it("may ask for a retry at a time of day", async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const asking = ask({}, (_, response) => response.writeHead(503, { "retry-after": date }).end());

    const error = await asking.catch((caught) => caught);

    expect(error.retryAfterMs).toBeGreaterThan(3_000_000);
  });

  it.each(["999999999", "99999999999999", "Fri, 31 Dec 2100 23:59:59 GMT"])(
    "that asks for a retry in years (%s) is retried after an hour",
    async (date) => {
      const asking = ask({}, (_, response) => response.writeHead(503, { "retry-after": date }).end());

      await expect(asking).rejects.toMatchObject({ kind: "unavailable", retryAfterMs: 3_600_000 });
    },
  );

  it("belongs to its request, with query and body", async () => {
    const { body } = await ask(
      { method: "PUT", query: { a: "x y&z", b: undefined, c: 3 }, body: { d: 1 } },
      (request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk) => chunks.push(chunk));
        request.on("end", () =>
          response.end(JSON.stringify({ url: request.url, sent: Buffer.concat(chunks).toString() })),
        );
      },
    );

    expect(body).toEqual({ url: "/base/things?a=x+y%26z&c=3", sent: '{"d":1}' });
  });
});

describe("a token that the server rejects", () => {
  const acceptOnly = (good: string, received: unknown[]): RequestListener => {
    return (request, response) => {
      received.push(request.headers["x-token"]);
      response.writeHead(request.headers["x-token"] === good ? 200 : 401).end("{}");
    };
  };

  it("is replaced by the current one, for every method", async () => {
    const received: unknown[] = [];
    const token: AccessToken = async ({ refused }) => (refused ? "new-token" : "old-token");

    await ask({ method: "POST" }, acceptOnly("new-token", received), token);

    expect(received).toEqual(["old-token", "new-token"]);
  });

  it.each([
    ["there is no other", ["old-token"], async () => "old-token"],
    ["the other is no better", ["old-token", "2"], async ({ refused }) => (refused ? "2" : "old-token")],
  ] as [string, string[], AccessToken][])("is an error when %s", async (_when, expected, token) => {
    const received: unknown[] = [];

    const asking = ask({ method: "POST" }, acceptOnly("new-token", received), token);

    await expect(asking).rejects.toMatchObject({ kind: "denied", status: 401 });
    await expect(asking).rejects.toThrow(/responded 401 to POST things.*; replace the token$/);
    expect(received).toEqual(expected);
  });
});

async function ask(
  some: Partial<RestRequest>,
  answer: RequestListener,
  token: AccessToken = async () => "secret-token",
) {
  server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((resolve) => server?.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  const rest = restClient({
    ...{ name: "The server", url: `http://127.0.0.1:${port}/`, basePath: "base", timeLimitMs: 30_000 },
    token,
    fixes: { 401: "replace the token" },
    credentials: (token) => ({ headers: { "x-token": token }, secrets: [token] }),
    ...{ clock: systemClock(), random: systemRandom() },
  });
  return await rest({ method: "GET", path: "things", ...some });
}
