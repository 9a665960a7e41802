import { afterEach, expect, it } from "vitest";
import { type ServedGateway, servedGateway } from "../gateway/served-gateway.ts";

let served: ServedGateway;
afterEach(() => served.close());

const evil = "a\u007f\u009b31m\ufffe\uffffz";

it.each<[string, object]>([
  [
    "/api/v1/signals",
    {
      ...{ name: evil, target: "node/worker-1", severity: evil, series: evil },
      ...{ labels: { [evil]: evil }, annotations: { summary: evil } },
    },
  ],
  [
    "/api/v1/signals/alertmanager",
    {
      version: "4",
      alerts: [
        {
          status: "firing",
          labels: { alertname: evil, node: "worker-1", severity: evil, [evil]: evil },
          annotations: { description: evil },
          fingerprint: evil,
          generatorURL: evil,
        },
      ],
    },
  ],
  [
    "/api/v1/signals/kubernetes-event",
    {
      ...{ type: "Warning", reason: evil, message: evil, metadata: { name: evil } },
      involvedObject: { kind: "Node", name: "worker-1" },
    },
  ],
])("an incident from %s has no character that makes kubectl -o yaml fail", async (path, payload) => {
  served = await servedGateway();

  expect((await served.post(path, payload)).status).toBe(201);

  const [incident] = await served.incidents();
  expect(JSON.stringify(incident)).toContain(String.raw`\\u009b31m`);
  expect(JSON.stringify(incident)).not.toMatch(/[\x7f-\x84\x86-\x9f\ufffe\uffff]/);
});
