import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addresses } from "./addresses.ts";
import { exchange, post } from "./post.ts";

let server: Server;
let port: number;
let answer = 200;
let received = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    received++;
    request.resume();
    if (answer === 0) return;
    response.writeHead(answer, { location: `http://127.0.0.1:${port}/elsewhere` }).end("s3cret of the receiver");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe("a request", () => {
  it.each([
    ["http://127.0.0.1:PORT/"],
    ["http://[::1]:PORT/"],
    ["http://[::ffff:127.0.0.1]:PORT/"],
    ["http://0x7f.1:PORT/"],
    ["http://2130706433:PORT/"],
    ["http://localhost:PORT/"],
    ["https://169.254.169.254/latest/meta-data"],
  ])("to %s is refused and not sent", async (url) => {
    const before = received;

    const delivery = await send(url.replace("PORT", String(port)), addresses([]));

    expect(delivery).toMatchObject({ status: "refused", error: expect.stringContaining("notify.allowedNetworks") });
    expect(received).toBe(before);
  });

  it("uses the checked address, even if its name resolves to another one later", async () => {
    const found = ["10.0.0.1", "127.0.0.1"];
    let looks = 0;
    const some = addresses(["127.0.0.1/32"], (_name, done) =>
      done(null, [{ address: found[looks++ === 0 ? 1 : 0] ?? "", family: 4 }]),
    );

    expect(await send(`http://rebinding.example:${port}/`, some)).toEqual({ status: "success" });
    expect(looks).toBe(1);
    expect(await send(`http://rebinding.example:${port}/`, some)).toMatchObject({ status: "refused" });
  });

  it("is refused if one of several addresses is not public", async () => {
    const mixed = addresses([], (_name, done) =>
      done(null, [
        { address: "1.1.1.1", family: 4 },
        { address: "10.0.0.1", family: 4 },
      ]),
    );

    expect(await send(`http://mixed.example:${port}/`, mixed)).toMatchObject({ status: "refused" });
  });

  it.each([
    [200, "success"],
    [204, "success"],
    [302, "refused"],
    [307, "refused"],
    [400, "refused"],
    [404, "refused"],
    [408, "failed"],
    [429, "failed"],
    [500, "failed"],
    [503, "failed"],
  ])("with the response %i is %s, and redirects are not followed", async (status, outcome) => {
    answer = status;
    const before = received;

    const delivery = await send(`http://127.0.0.1:${port}/hidden-path?token=t0psecret`);

    expect(delivery.status).toBe(outcome);
    expect(received).toBe(before + 1);
    expect(JSON.stringify(delivery)).not.toMatch(/hidden-path|t0psecret|s3cret/);
  });

  it("without a response ends when its signal aborts", async () => {
    answer = 0;
    const enough = new AbortController();
    const sending = send(`http://127.0.0.1:${port}/`, addresses(["127.0.0.1/32"]), enough.signal);
    await expect.poll(() => received).toBeGreaterThan(0);
    enough.abort();

    expect(await sending).toEqual({ status: "timeout", error: "127.0.0.1 did not respond in time" });
  });

  it.each([
    [200, { kind: "success", body: expect.stringMatching(/^x{262144,524288}$/) }],
    [500, { kind: "failure", failure: { status: "failed", error: "127.0.0.1 responded 500" } }],
  ])("with an endless response and the status %i ends, and keeps the beginning", async (status, outcome) => {
    await using receiver = await startReceiver((response) => {
      response.writeHead(status);
      const write = () => {
        while (!response.destroyed && response.write("x".repeat(65_536)));
      };
      response.on("drain", write);
      write();
    });

    const request = { url: receiver.url, body: "{}", headers: {} };
    expect(await exchange(request, addresses(["127.0.0.1/32"]), new AbortController().signal)).toEqual(outcome);
    await expect.poll(() => receiver.connections()).toBe(0);
  });

  it("with the status of a success is delivered, even if the response never ends", async () => {
    await using receiver = await startReceiver((response) => response.writeHead(200).write("x"));

    expect(await send(receiver.url)).toEqual({ status: "success" });
    await expect.poll(() => receiver.connections()).toBe(0);
  });

  it("whose response is needed ends when its signal aborts in the middle of the response", async () => {
    let hasBegun = false;
    await using receiver = await startReceiver((response) => {
      response.writeHead(200);
      response.write("x", () => {
        hasBegun = true;
      });
    });
    const enough = new AbortController();
    const request = { url: receiver.url, body: "{}", headers: {} };
    const sending = exchange(request, addresses(["127.0.0.1/32"]), enough.signal);
    await expect.poll(() => hasBegun).toBe(true);
    enough.abort();

    const failure = { status: "timeout", error: "127.0.0.1 did not respond in time" };
    expect(await sending).toEqual({ kind: "failure", failure });
  });

  it("does not follow a redirect with its credentials", async () => {
    const stolen: (string | undefined)[] = [];
    await using thief = await startReceiver((response, request) => {
      stolen.push(request.headers.authorization);
      response.end();
    });
    await using receiver = await startReceiver((response) => response.writeHead(307, { location: thief.url }).end());
    const request = { url: receiver.url, body: "{}", headers: { authorization: "Bearer t0psecret" } };

    const outcome = await exchange(request, addresses(["127.0.0.1/32"]), new AbortController().signal);

    expect(outcome).toMatchObject({ failure: { status: "refused" } });
    expect(stolen).toEqual([]);
  });

  it("to a closed port fails with an error without the path", async () => {
    expect(await send("http://127.0.0.1:1/hidden-path")).toEqual({
      status: "failed",
      error: "127.0.0.1 cannot be reached: ECONNREFUSED",
    });
  });
});

async function startReceiver(respond: (response: ServerResponse, request: IncomingMessage) => void) {
  const receiver = createServer((request, response) => {
    request.resume();
    respond(response, request);
  });
  const sockets = new Set<unknown>();
  receiver.on("connection", (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    connections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      receiver.closeAllConnections();
      receiver.close();
    },
  };
}

function send(url: string, allowed = addresses(["127.0.0.1/32"]), signal = new AbortController().signal) {
  return post({ url, body: "{}", headers: {} }, allowed, signal);
}
