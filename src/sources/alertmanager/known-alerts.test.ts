import { describe, expect, it } from "vitest";
import { alertmanagerReader } from "./alertmanager.ts";

const alert = {
  status: "firing",
  labels: { alertname: "NodeFilesystemFull", severity: "warning", node: "worker-1", job: "node-exporter" },
  annotations: { summary: "The file system is nearly full." },
  startsAt: "2026-11-15T06:00:00Z",
  endsAt: "0001-01-01T00:00:00Z",
  fingerprint: "5c1f2a3b4d5e6f00",
};

const [earlier, later] = ["2026-11-15T06:01:00.000Z", "2026-11-15T06:02:00.000Z"];

describe("an alert that is sent again", () => {
  it("has the same signal if it is equal", () => {
    const { first, second } = readTwice(alert, structuredClone(alert));

    expect(second).toBe(first);
  });

  it.each([
    ["another label", { labels: { ...alert.labels, node: "worker-2" } }],
    ["one label more", { labels: { ...alert.labels, device: "/dev/sda1" } }],
    ["one label less", { labels: { ...alert.labels, severity: undefined } }],
    ["another annotation", { annotations: { summary: "It is full." } }],
    ["no annotations", { annotations: undefined }],
    ["another beginning", { startsAt: "2026-11-15T06:00:30Z" }],
    ["an end", { status: "resolved", endsAt: "2026-11-15T06:01:00Z" }],
    ["another address of the expression", { generatorURL: "http://prometheus:9090/graph" }],
  ])("is read again with the same fingerprint and %s", (_what, change) => {
    const changed = JSON.parse(JSON.stringify({ ...alert, ...change }));
    const { second } = readTwice(alert, changed);

    expect(second).toEqual(readAlone(changed));
    expect(second).toMatchObject({ signal: { payload: changed } });
  });

  it.each([
    ["no beginning", { startsAt: undefined }],
    ["the status of its group alone", { status: undefined }],
    ["an end by the time of receipt", { status: "resolved" }],
  ])("is read again with %s", (_what, change) => {
    const { second } = readTwice({ ...alert, ...change }, { ...alert, ...change });

    expect(second).toEqual(readAlone({ ...alert, ...change }));
  });
});

function readTwice(one: unknown, other: unknown) {
  const { read } = alertmanagerReader();
  const first = readingOf(read({ version: "4", status: "firing", alerts: [one] }, earlier));
  const second = readingOf(read({ version: "4", status: "resolved", alerts: [other] }, later));
  return { first, second };
}

function readAlone(one: unknown) {
  return readingOf(alertmanagerReader().read({ version: "4", status: "resolved", alerts: [one] }, later));
}

function readingOf(payload: ReturnType<ReturnType<typeof alertmanagerReader>["read"]>) {
  return payload.kind === "signals" ? payload.readings[0] : payload;
}
