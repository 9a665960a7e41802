import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { createApp, listenWith } from "./listen.ts";

describe("a server that closes", () => {
  const clock = new ManualClock();
  const sockets: Socket[] = [];

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  it("completes a pending request", async () => {
    const { server, started, finish } = await serve();
    const response = fetch(server.url);
    await started;

    const closed = server.close();
    finish();

    expect(await (await response).text()).toBe("done");
    await closed;
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ["never ends its request", "GET / HTTP/1.1\r\nHost: here\r\n"],
    [
      "never ends its body",
      "POST / HTTP/1.1\r\nHost: here\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nhalf",
    ],
  ])("does not wait for a client that %s", async (_what, sent) => {
    const { server } = await serve();
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1");
    sockets.push(socket);
    await once(socket, "connect");
    socket.on("error", () => {});
    socket.write(sent);
    // The server has read what came before on another connection.
    await fetch(`${server.url}/health`);

    const closed = server.close();
    await clock.advance(5_000);

    await closed;
  });

  async function serve() {
    const app = createApp({});
    const requests = new EventEmitter();
    app.get("/health", async () => "ok");
    app.get("/", async () => {
      const finished = once(requests, "finish");
      requests.emit("start");
      await finished;
      return "done";
    });
    const server = await listenWith(app, { listen: { host: "127.0.0.1", port: 0 }, clock });
    return { server, started: once(requests, "start"), finish: () => requests.emit("finish") };
  }
});
