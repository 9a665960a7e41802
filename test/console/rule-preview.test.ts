import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { previewAtGateway } from "../../src/app/gateway-preview.ts";
import { type ServedGateway, servedGateway, token } from "../gateway/served-gateway.ts";

const payload = { alerts: [{ status: "firing", labels: { alertname: "DiskFull", node: "worker-1" } }] };

describe("a preview at the gateway", () => {
  let served: ServedGateway;
  beforeAll(async () => {
    served = await servedGateway();
  });
  afterAll(() => served.close());

  const preview = (source: string, signal = new AbortController().signal, url = served.url) =>
    previewAtGateway({ url, tokens: `test ${token}`, tokenFile: undefined }, { source, payload, signal });

  it("has the result of each signal, and changes nothing", async () => {
    expect(await preview("alertmanager")).toMatchObject([{ status: "created", subject: "node/worker-1" }]);

    expect(await served.incidents()).toEqual([]);
  });

  it.each([
    "alertmanager#",
    "alertmanager?dryRun=false&x=",
    "alertmanager?",
    "alertmanager/",
    "../signals/alertmanager",
    "..",
    ".",
    "%2e%2e/webhooks/gitlab",
    "@evil.example/",
    "Alertmanager",
    "",
  ])("refuses the source %j, which could change the request", async (source) => {
    await expect(preview(source)).rejects.toMatchObject({ name: "OperationError", code: "invalid" });

    expect(await served.incidents()).toEqual([]);
  });

  it("ends with its time limit when the gateway does not respond", async () => {
    const limit = new AbortController();
    const silent = createServer(() => limit.abort()).listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));

    const { port } = silent.address() as AddressInfo;
    const failed = preview("alertmanager", limit.signal, `http://127.0.0.1:${port}`);

    await expect(failed).rejects.toMatchObject({ code: "unavailable", message: "the gateway does not respond" });
    silent.closeAllConnections();
    silent.close();
  });
});
