import { connect } from "node:net";
import { connect as connectSecurely } from "node:tls";
import { describe, expect, it } from "vitest";
import { selfSigned } from "../../src/apiserver/self-signed.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { serverUnderTest, tokens } from "../conformance/server-under-test.ts";

const watch = "GET /api/v1/namespaces/default/configmaps?watch=1&resourceVersion=0";
const create = "POST /api/v1/namespaces/default/configmaps";

describe("a server that closes", () => {
  it.each(["http", "https"])("ends open watches as at their timeout, over %s", async (scheme) => {
    const { server, talk } = await serving(scheme);
    const watches = await Promise.all([talk(watch), talk(watch), talk(watch)]);
    for (const { waitForText } of watches) await waitForText("HTTP/1.1 200 OK");

    await server.close();

    for (const { ended } of watches) expect(await ended).toMatch(/\r\n0\r\n\r\n$/);
  });

  it("delivers earlier events before it ends a watch", async () => {
    const { server, talk } = await serving("http");
    const open = await talk(watch);
    await open.waitForText("HTTP/1.1 200 OK");
    const body = '{"metadata":{"name":"last"}}';
    const writer = await talk(create, body);
    await writer.waitForText("201 Created");

    await server.close();

    expect(await open.ended).toContain('"name":"last"');
  });

  it("responds to earlier requests, and to no later ones on that connection", async () => {
    const { server, talk } = await serving("http");
    const body = '{"metadata":{"name":"slow"}}';
    const writer = await talk(create, { length: body.length });
    await writer.waitForText("100 Continue");

    const closed = server.close();
    writer.write(body);

    expect(await writer.ended).toMatch(/201 Created.*Connection: close/s);
    await closed;
  });

  it.each(["http", "https"])("does not wait for silent connections, over %s", async (scheme) => {
    const { server, url } = await serving(scheme);
    const silent = connect(Number(url.port), url.hostname);
    const over = new Promise((resolve) => silent.on("close", resolve));
    await new Promise((resolve) => silent.on("connect", resolve));

    await server.close();

    await over;
  });
});

async function serving(scheme: string) {
  const tls = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
  const server = await serverUnderTest(scheme === "https" ? { tls } : {});
  const url = new URL(server.url);

  /** Sends a request with a body, or with one of a length that is still to come. */
  async function talk(request: string, body: string | { length: number } = "") {
    const port = Number(url.port);
    const socket =
      scheme === "https"
        ? connectSecurely({ port, ca: tls.certificate, host: url.hostname })
        : connect(port, url.hostname);
    let text = "";
    let look = () => {};
    socket.setEncoding("utf8").on("data", (data) => {
      text += String(data);
      look();
    });
    const ended = new Promise<string>((resolve, reject) => {
      socket.on("end", () => resolve(text));
      socket.on("error", reject);
    });
    // Callers that await `ended` get the error; without this handler it would be unhandled until then.
    ended.catch(() => {});
    const waitForText = (part: string) =>
      new Promise<void>((resolve) => {
        look = () => void (text.includes(part) && resolve());
        look();
      });
    const expectation = typeof body === "string" ? "" : "Expect: 100-continue\r\n";
    const headers = `Host: here\r\nAuthorization: Bearer ${tokens.admin}\r\n${expectation}Content-Length: ${body.length}`;
    socket.write(`${request} HTTP/1.1\r\n${headers}\r\n\r\n${typeof body === "string" ? body : ""}`);
    return { waitForText, ended, write: (more: string) => socket.write(more) };
  }

  return { server, url, talk };
}
