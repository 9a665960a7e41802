import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nightwatch } from "../../examples/source/nightwatch.ts";
import { loadConfig } from "../../src/config/index.ts";
import type { PayloadReading } from "../../src/resources/index.ts";
import { openMappedReaders } from "../../src/sources/index.ts";

const receivedAt = "2026-11-15T06:05:00.000Z";
const payload = JSON.parse(readFileSync("examples/source/payload.json", "utf8"));

describe("the example of a source", () => {
  it("reads a begin and an end, and ignores other checks", () => {
    const readings = readingsOf(nightwatch.read(payload, receivedAt));

    expect(readings).toMatchObject([
      { signal: { status: "firing", name: "disk", subject: { kind: "node", name: "worker-1" }, series: "c-17" } },
      { signal: { status: "resolved", subject: { kind: "node", name: "worker-2" }, series: "c-18" } },
      { kind: "ignored" },
    ]);
  });

  it("has the same signals by its mapping", () => {
    const byMapping = readingsOf(mappedReader().read(payload, receivedAt));

    expect(byMapping.map(essence)).toEqual(readingsOf(nightwatch.read(payload, receivedAt)).map(essence));
  });

  it("explains where the fields of a signal come from", () => {
    const [first] = nightwatch.explain(payload, receivedAt);

    expect(first).toContainEqual({ field: "series", from: "id", value: "c-17" });
  });

  it("reports every missing field", () => {
    const [first] = readingsOf(nightwatch.read({ checks: [{ state: "ok", host: "a" }] }, receivedAt));

    expect(first).toEqual({
      kind: "problems",
      problems: [
        "checks[0].check is missing or longer than 128 characters",
        "checks[0].id is missing or longer than 128 characters",
      ],
    });
  });

  it("throws for no payload", () => {
    const item = fc.record({ check: fc.jsonValue(), host: fc.jsonValue(), state: fc.constantFrom("ok", 7, null) });
    const body = fc.oneof(fc.jsonValue(), fc.record({ site: fc.jsonValue(), checks: fc.array(fc.oneof(item)) }));

    fc.assert(
      fc.property(body, (body) => {
        expect(["signals", "problems"]).toContain(nightwatch.read(body, receivedAt).kind);
      }),
    );
  });
});

function mappedReader() {
  const path = "examples/source/interlock.yaml";
  const loaded = loadConfig({ yaml: { path, text: readFileSync(path, "utf8") }, env: {} });
  if (loaded.kind === "invalid") throw new Error(loaded.problems.join("\n"));
  const mapped = openMappedReaders(loaded.config.sources.maps);
  const [reader] = mapped.kind === "valid" ? mapped.own : [];
  if (!reader) throw new Error(JSON.stringify(mapped));
  return reader;
}

function readingsOf(reading: PayloadReading) {
  if (reading.kind === "problems") throw new Error(reading.problems.join("\n"));
  return reading.readings;
}

/** Everything that decides which incident a signal opens or closes. */
function essence(reading: ReturnType<typeof readingsOf>[number]) {
  if (reading.kind !== "signal") return reading.kind;
  const { status, source, name, severity, subject, series, labels, firingAt } = reading.signal;
  return { status, source, name, severity, subject, series, labels, firingAt };
}
