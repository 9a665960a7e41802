import { describe, expect, it } from "vitest";
import { ManualClock } from "../../test/doubles/manual-clock.ts";
import { recordingLogger } from "../../test/doubles/recording-logger.ts";
import { type Logger, silentLogger } from "./logger.ts";
import { type PinoLoggerOptions, pinoLogger } from "./pino-logger.ts";

describe("a JSON log line", () => {
  it("holds level, time, event and fields", () => {
    const { log, lines } = logger();

    log.warn("lease lost", { key: "repo:42", holder: "agent/a/1" });

    expect(lines).toEqual([
      '{"level":"warn","time":"2023-11-14T22:13:21.000Z","key":"repo:42","holder":"agent/a/1","msg":"lease lost"}\n',
    ]);
  });

  it("is not written below the level", () => {
    const { log, events } = logger({ level: "warn" });

    log.debug("one");
    log.info("two");
    log.warn("three");
    log.error("four");

    expect(events().map(({ msg }) => msg)).toEqual(["three", "four"]);
  });

  it("keeps its own level, time and message when fields have the same names", () => {
    const { log, events } = logger();

    log.info("tick", { level: 9, time: 5, msg: "x" });

    expect(events()[0]).toMatchObject({ level: "info", level_: 9, time_: 5, msg_: "x", msg: "tick" });
  });
});

describe("a field", () => {
  it.each<[string, unknown, unknown]>([
    ["a fence", 2n ** 64n, "18446744073709551616"],
    ["not a number", Number.NaN, "NaN"],
    ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["a map", new Map([["a", 1n]]), { a: "1" }],
    ["a set", new Set([1n]), ["1"]],
    ["bytes", Buffer.from("hunter2"), "[7 bytes]"],
    ["a URL", new URL("redis://:hunter2@redis"), "redis://[redacted]@redis"],
    ["a text with a URL", "GET https://u:hunter2@x/y", "GET https://[redacted]@x/y"],
    ["headers", { Authorization: "Bearer hunter2", accept: "*" }, { Authorization: "[redacted]", accept: "*" }],
    ["a list of objects with secrets", [{ clientSecret: "hunter2" }], [{ clientSecret: "[redacted]" }]],
    [
      "an object that cannot be read",
      {
        get a() {
          throw new Error("no");
        },
      },
      { a: "[unprintable]" },
    ],
    [
      "an object that cannot be converted",
      [
        {
          toJSON() {
            throw new Error("no");
          },
        },
      ],
      "[unprintable]",
    ],
    ["a cycle", cycle(), { self: "[circular]" }],
  ])("that is %s is written as plain data without secrets", (_what, value, expected) => {
    const { log, events } = logger();

    log.info("something", { value });

    expect(events().map(({ value }) => value)).toEqual([expected]);
  });

  it("named like a secret is redacted, unless it is a boolean", () => {
    const { log, events } = logger();

    log.info("something", { password: "hunter2", token: 42, hasToken: true });

    expect(events()[0]).toMatchObject({ password: "[redacted]", token: "[redacted]", hasToken: true });
  });

  it("nested without end is cut off", () => {
    const { log, lines } = logger();
    let value: object = {};
    for (let i = 0; i < 100; i++) value = { value };

    log.info("something", { value });

    expect(lines[0]).toContain("[too deep]");
  });
});

describe("an error", () => {
  it.each(["error", "err"])(
    "in a field called %s is written with code, cause and stack, but nothing else it carries",
    (name) => {
      const { log, events } = logger();
      const cause = new Error("connect redis://:hunter2@redis refused");
      const error = Object.assign(new Error("no answer", { cause }), {
        code: "unavailable",
        command: ["AUTH", "hunter2"],
      });

      log.error("lock failed", { [name]: error });

      expect(events()[0]?.[name]).toEqual({
        name: "Error",
        message: "no answer",
        code: "unavailable",
        stack: expect.stringContaining("logger.test.ts"),
        cause: {
          name: "Error",
          message: "connect redis://[redacted]@redis refused",
          stack: expect.not.stringContaining("hunter2"),
        },
      });
    },
  );

  it("of a failed system call has no stack", () => {
    const { log, events } = logger();
    const error = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
      syscall: "write",
    });

    log.error("lock failed", { error });

    expect(events()).toMatchObject([{ error: { message: error.message, code: "ENOSPC" } }]);
    expect(events()[0]).not.toHaveProperty("error.stack");
  });

  it("may be given in place of the fields", () => {
    const { log, events } = logger();

    log.error("lock failed", new AggregateError([new Error("one"), new Error("two")], "both"));

    expect(events()).toMatchObject([{ error: { message: "both", errors: [{ message: "one" }, { message: "two" }] } }]);
  });
});

describe("an error whose properties cannot be read", () => {
  it("is logged as unprintable", () => {
    const { log, events } = logger();
    const error = new Error("lost");
    Object.defineProperty(error, "cause", {
      get() {
        throw new Error("no cause");
      },
    });

    log.error("lock failed", error);

    expect(events()).toMatchObject([{ msg: "lock failed", error: "[unprintable]" }]);
  });
});

describe.each(["json", "text"] as const)("external text in a %s log line", (format) => {
  it("is inert: no escape, C1 control, direction override or line of its own", () => {
    const { log, lines } = logger({ format });
    const hostile = "a\u001b]0;x\u0007\u009b2J\u202e\u2028\n2023-11-14 ERROR all is lost";
    const error = Object.assign(new Error(hostile), { stack: `Error: ${hostile}\n    at ${hostile}` });

    log.warn("signal refused", { name: hostile, labels: { [hostile]: hostile }, error });

    const text = lines.join("");
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(text).not.toMatch(/^2023-11-14 ERROR/m);
    if (format === "json") expect(JSON.parse(text)).toMatchObject({ name: hostile, labels: { [hostile]: hostile } });
  });
});

describe("a text log line", () => {
  it("has quotes only where they are needed", () => {
    const { log, lines } = logger({ format: "text" });

    log.info("lease acquired", { key: "repo:42", fence: 7n, purpose: "push a branch", holder: { pod: "a" } });

    expect(lines).toEqual([
      '2023-11-14T22:13:21.000Z INFO  lease acquired key=repo:42 fence=7 purpose="push a branch" holder={"pod":"a"}\n',
    ]);
  });

  it("has the stacks of an error and of its causes below it", () => {
    const { log, lines } = logger({ format: "text" });
    const error = new Error("no answer", { cause: Object.assign(new TypeError("refused"), { code: "ECONNREFUSED" }) });

    log.error("lock failed", { error: Object.assign(error, { code: "unavailable" }) });

    expect(lines[0]).toMatch(
      /ERROR lock failed error="Error \(unavailable\): no answer"\n {4}Error: no answer\n {4}at [\s\S]*\n {4}caused by\n {4}TypeError: refused\n {4}at /,
    );
  });

  it("has the message of a failed system call, which has no stack, and of what it caused", () => {
    const { log, lines } = logger({ format: "text" });
    const full = Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC", syscall: "write" });
    const error = Object.assign(new Error("not stored", { cause: full }), { stack: "" });

    log.error("store failed", { error, full });

    expect(lines.join("").split("ERROR ")[1]).toBe(
      'store failed error="Error: not stored" full="Error (ENOSPC): ENOSPC: no space left"\n',
    );
  });

  it("cannot be forged by a line end in a field", () => {
    const { log, lines } = logger({ format: "text" });

    log.info("note received", { text: "hi\n2023-11-14 ERROR all is lost", error: new Error("a\r\u001b[2J\nb") });

    expect(
      lines
        .join("")
        .split("\n")
        .filter((line) => /^\S/.test(line)),
    ).toHaveLength(1);
    expect(lines.join("")).not.toMatch(/(?!\n)\p{Cc}/u);
  });
});

describe("loggers for other occasions", () => {
  it("the silent one writes nothing", () => {
    expect(silentLogger.error("lost")).toBeUndefined();
  });

  it("the recording one keeps its events", () => {
    const log = recordingLogger();

    log.debug("one");
    log.warn("two", { fence: 3n });

    expect(log.events).toEqual([
      { level: "debug", event: "one", fields: {} },
      { level: "warn", event: "two", fields: { fence: 3n } },
    ]);
  });
});

function logger(options: Partial<PinoLoggerOptions> = {}) {
  const lines: string[] = [];
  const log: Logger = pinoLogger({
    level: "debug",
    format: "json",
    clock: new ManualClock(),
    destination: { write: (line) => lines.push(line) },
    ...options,
  });
  const events = () => lines.map((line): Record<string, unknown> => JSON.parse(line));
  return { log, lines, events };
}

function cycle(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}
