import { describe, expect, it } from "vitest";
import { readApiOptions } from "./api.ts";

const listen = "127.0.0.1:7080";

describe("the options of interlock api", () => {
  it("default to loopback and a directory in the working directory", () => {
    expect(readApiOptions({ listen }, {})).toEqual({
      directory: ".data",
      listen: { host: "127.0.0.1", port: 7080 },
      acceptPlainTokens: false,
    });
  });

  it.each([
    ["127.0.0.1:0", { host: "127.0.0.1", port: 0 }],
    ["8080", { host: "127.0.0.1", port: 8080 }],
    ["[::1]:8080", { host: "::1", port: 8080 }],
    ["localhost:1", { host: "localhost", port: 1 }],
  ])("listen on %s", (text, listen) => {
    expect(readApiOptions({ listen: text }, {}).listen).toEqual(listen);
  });

  it.each(["here", "1.2.3.4:", "1.2.3.4:70000"])("refuse to listen on %s, with an example", (text) => {
    expect(() => readApiOptions({ listen: text }, {})).toThrow("HOST:PORT");
  });

  it("take the token from the environment, where no process list shows it", () => {
    expect(readApiOptions({ listen }, { INTERLOCK_TOKEN: "0123456789" }).token).toBe("0123456789");
  });

  it("take the directory from the environment unless an option names one", () => {
    const env = { INTERLOCK_DATA: "elsewhere" };

    expect(readApiOptions({ listen }, env).directory).toBe("elsewhere");
    expect(readApiOptions({ listen, data: "here" }, env).directory).toBe("here");
  });

  it("refuse a token that is too short, without printing it", () => {
    expect(() => readApiOptions({ listen, token: "abc" }, {})).toThrow(/^(?!.*abc).*at least 8/);
  });

  it("accept tokens over plain HTTP if the option or the environment allows it", () => {
    expect(readApiOptions({ listen, acceptPlainTokens: true }, {}).acceptPlainTokens).toBe(true);
    expect(readApiOptions({ listen }, { INTERLOCK_ACCEPT_PLAIN_TOKENS: "true" }).acceptPlainTokens).toBe(true);
    expect(readApiOptions({ listen }, { INTERLOCK_ACCEPT_PLAIN_TOKENS: "" }).acceptPlainTokens).toBe(false);
  });
});
