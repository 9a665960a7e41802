import { describe, expect, it } from "vitest";
import { compileExpression } from "./expression.ts";
import { mappedReader } from "./mapped-reader.ts";
import { openMappedReaders } from "./mapped-readers.ts";
import { readMapping } from "./mapping.ts";

const receivedAt = "2026-11-15T06:05:00.000Z";

describe("a mapping", () => {
  it("derives every field of a signal from the payload", () => {
    const reader = open({
      items: "body.problems",
      name: "item.title",
      target: '"payment/deployment/" + item.app',
      severity: "item.level",
      status: 'item.open ? "firing" : "resolved"',
      series: "item.id",
      firingTime: "item.since",
      endTime: ["item.until"],
      labels: { level: "item.level", count: "item.count", missing: "item.nowhere" },
      annotations: { by: "body.host" },
    });
    const problem = { title: "Slow", app: "api", level: "high", id: 7, count: 3, since: 1_794_722_400 };

    const reading = reader.read(
      {
        host: "mon-1",
        problems: [
          { ...problem, open: true },
          { ...problem, open: false, until: "2026-11-15T06:04:00Z" },
        ],
      },
      receivedAt,
    );

    const common = {
      source: "watchman",
      name: "Slow",
      severity: "high",
      subject: { namespace: "payment", kind: "deployment", name: "api" },
      series: "7",
      labels: { level: "high", count: "3" },
      annotations: { by: "mon-1" },
      firingAt: "2026-11-15T06:00:00.000Z",
    };
    expect(reading).toMatchObject({
      readings: [
        { signal: { ...common, status: "firing" } },
        { signal: { ...common, status: "resolved", endedAt: "2026-11-15T06:04:00.000Z" } },
      ],
    });
  });

  it("that fails for one item is a problem only of that item", () => {
    const reader = open({ name: "item.title", target: "item.target", severity: ["item.level"] });

    const reading = reader.read(
      [{ title: "a", target: "node/a" }, { target: "node/b" }, { title: "c", target: 7 }],
      receivedAt,
    );

    expect(reading).toMatchObject({
      readings: [
        { kind: "signal", signal: { severity: "unknown" } },
        { kind: "problems", problems: ["items[1].name: item.title: No such key: title"] },
        { kind: "problems", problems: [expect.stringMatching(/^items\[2\]\.target is missing/)] },
      ],
    });
  });

  it("without a value for the target gives a signal that names no object", () => {
    const reader = open({ name: "item.title", target: ["item.target"] });

    const reading = reader.read({ title: "a" }, receivedAt);

    expect(reading).toMatchObject({
      readings: [{ signal: { noSubject: "the mapping of its sender gives no target" } }],
    });
    expect(JSON.stringify(reading)).not.toContain('"subject"');
  });

  it.each([
    ["is ignored where when is false", { when: "item.on" }, { on: false, title: "a" }, { kind: "ignored" }],
    ["is a problem where when fails", { when: "item.on" }, { title: "a" }, { kind: "problems" }],
    ["is a problem where when is no boolean", { when: "item.on" }, { on: "x", title: "a" }, { kind: "problems" }],
    ["is a problem where require is false", { require: 'item.v == "2"' }, { v: "1", title: "a" }, { kind: "problems" }],
    ["is a problem where require fails", { require: 'item.v == "2"' }, { title: "a" }, { kind: "problems" }],
  ])("%s", (_what, more, item, expected) => {
    expect(open({ name: "item.title", ...more }).read([item], receivedAt)).toMatchObject({ readings: [expected] });
  });

  it.each([
    ["no list", "body.a", { a: 1 }, "items: body.a: is not a list"],
    ["no value", "body.b", {}, "items: body.b: No such key: b"],
  ])("whose items give %s refuses the payload", (_what, items, body, problem) => {
    expect(open({ items, name: "item.x" }).read(body, receivedAt)).toEqual({ kind: "problems", problems: [problem] });
  });

  it("shortens names and series that are too long, and keeps long series distinct", () => {
    const reader = open({ name: "item.n", series: "item.s", severity: "item.n" });
    const read = (end: string) => reader.read({ n: "n".repeat(1_000), s: "s".repeat(500) + end }, receivedAt);

    const [one, other] = [read("a"), read("b")].map((reading) => {
      const [first] = reading.kind === "signals" ? reading.readings : [];
      return first?.kind === "signal" ? first.signal : undefined;
    });

    expect([one?.name.length, one?.severity.length, one?.series.length]).toEqual([253, 50, 64]);
    expect(one?.series).not.toBe(other?.series);
  });

  it("does not evaluate text of the payload, and reads no inherited properties", () => {
    const reader = open({ name: "item.title", target: ["item.constructor", "item.__proto__.x", "item.target"] });
    const item = JSON.parse('{"title":"item.secret + body","target":"node/a","__proto__":{"x":"node/evil"}}') as object;

    const reading = reader.read(item, receivedAt);

    expect(reading).toMatchObject({ readings: [{ signal: { name: "item.secret + body" } }] });
    expect(({} as { x?: string }).x).toBeUndefined();
  });

  it("explains each field: its expression, and the value or the problem", () => {
    const reader = open({ name: "item.title", severity: ["item.level", "item.priority"], status: "item.state" });

    expect(reader.explain({ title: "Slow", priority: 2 }, receivedAt)).toEqual([
      [
        { field: "name", from: "item.title", value: "Slow" },
        { field: "severity", from: "item.priority", value: "2" },
        { field: "status", from: "item.state", problem: "No such key: state" },
      ],
    ]);
  });
});

describe("an invalid mapping is refused:", () => {
  it.each([
    ["not an object", "item.x", /is not an object/],
    ["without a name", { target: "item.x" }, /^name is missing$/],
    ["an unknown field", { name: "item.x", tarjet: "item.y" }, /^tarjet is not a field of a mapping: there are items/],
    ["not an expression", { name: 7 }, /^name is not an expression/],
    ["a syntax error", { name: "item.(" }, /^name "item.\("/],
    ["an unknown variable", { name: "event.title" }, /Unknown variable: event/],
    ["a backtracking pattern", { name: "item.x.matches('(a+)+$') ? 'a' : 'b'" }, /uses matches\(\); use extract/],
    ["a loop in a loop", { name: "item.a.map(x, item.b.map(y, y))[0]" }, /other than x inside a loop over x/],
    ["a loop over the body for each item", { name: "body.a.map(x, x)[0]" }, /iterates over body for each item/],
    ["an alias", { name: "cel.bind(b, body, b.a)" }, /cel\.bind/],
    ["an expression that is too long", { name: `"${"x".repeat(3_000)}"` }, /is longer than 2048 characters/],
  ])("%s", (_what, written, problem) => {
    expect(readMapping(written)).toMatchObject({ kind: "invalid", problems: [expect.stringMatching(problem)] });
  });

  it("names the setting", () => {
    const written = new Map<string, unknown>([
      ["newrelic", { name: "item.(" }],
      ["grafana", { name: "item.x" }],
    ]);

    expect(openMappedReaders(written)).toMatchObject({
      problems: [
        expect.stringMatching(/^sources\.newrelic\.map: name/),
        "sources.grafana.map: grafana has a reader of its own; choose another name",
      ],
    });
  });
});

describe("a mapping of the installation", () => {
  it("replaces fields of a built-in mapping and adds labels to it", () => {
    const own = { target: '"payment/deployment/" + labels.service', labels: { region: '"eu"' } };
    const opened = openMappedReaders(new Map([["pagerduty", own]]));
    const reader = opened.kind === "valid" ? opened.builtIn.find(({ source }) => source === "pagerduty") : undefined;
    const data = { id: "P1", title: "Slow", created_at: receivedAt, service: { summary: "api", id: "S1" } };

    const event = { event_type: "incident.triggered", occurred_at: receivedAt, data };

    expect(reader?.read({ event }, receivedAt)).toMatchObject({
      readings: [
        {
          signal: {
            name: "Slow",
            subject: { namespace: "payment", kind: "deployment", name: "api" },
            labels: { service: "api", region: "eu" },
          },
        },
      ],
    });
  });
});

describe("an expression of a mapping", () => {
  it.each([
    ['"a-17-b".extract("-(\\\\d+)-")', "17"],
    ['"a-17-b".extract("\\\\d+")', "17"],
    ['"a".extract("b")', ""],
    ['pairs(["a:b:c", "d", "a:e"], ":").a', "b:c"],
    ["item.?a.?b", undefined],
    ["item.list.filter(x, x.ok).map(x, x.tags.filter(t, t != '')[0])[0]", "t1"],
  ])("%s is %j", (text, value) => {
    const item = { list: [{ ok: true, tags: ["", "t1"] }] };

    expect(compileExpression(text).evaluate({ body: {}, item, labels: {} })).toEqual({ kind: "value", value });
  });
});

function open(written: object) {
  const reading = readMapping(written);
  if (reading.kind === "invalid") throw new Error(reading.problems.join("\n"));
  return mappedReader("watchman", reading.mapping);
}
