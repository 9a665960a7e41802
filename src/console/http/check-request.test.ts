import { describe, expect, it } from "vitest";
import { checkCookieWrite, checkHost, checkOrigin, servedHosts } from "./check-request.ts";

describe("the host of a request", () => {
  const hosts = servedHosts("0.0.0.0", ["console.example.com"]);

  it.each([
    ["127.0.0.1:8090"],
    ["localhost"],
    ["LOCALHOST:8090"],
    ["[::1]:8090"],
    ["console.example.com"],
    ["console.example.com:443"],
  ])("is accepted if it is a name of the console: %s", (host) => {
    expect(checkHost({ host }, hosts)).toBeUndefined();
  });

  it.each([
    ["evil.example.com:8090"],
    ["127.0.0.1.evil.example.com"],
    ["localhost.evil.example.com"],
    ["evil.example.com:8090:127.0.0.1"],
    ["0.0.0.0:8090"],
    [""],
    [undefined],
  ])("is refused if it is any other name: %s", (host) => {
    expect(checkHost({ host }, hosts)).toMatchObject({ status: 421 });
  });

  it("may be the address that the console listens on", () => {
    expect(checkHost({ host: "10.1.2.3:8090" }, servedHosts("10.1.2.3", []))).toBeUndefined();
    expect(checkHost({ host: "[fd00::1]:8090" }, servedHosts("fd00::1", []))).toBeUndefined();
  });
});

describe("the origin of a request", () => {
  const host = "127.0.0.1:8090";
  const request = { method: "POST", host, origin: undefined, fetchSite: undefined };

  it.each([
    ["a page of the console", { origin: `http://${host}`, fetchSite: "same-origin" }],
    ["a page of the console, in an old browser", { origin: `http://${host}` }],
    ["the address bar", { fetchSite: "none" }],
    ["a program", {}],
  ])("is accepted from %s", (_, headers) => {
    expect(checkOrigin({ ...request, ...headers })).toBeUndefined();
  });

  it.each([
    ["another site", { origin: "https://evil.example.com", fetchSite: "cross-site" }],
    ["another site that names no origin", { fetchSite: "cross-site" }],
    ["another port of this machine", { origin: "http://127.0.0.1:9000", fetchSite: "same-site" }],
    ["another port, in an old browser", { origin: "http://127.0.0.1:9000" }],
    ["a sandboxed page", { origin: "null", fetchSite: "cross-site" }],
    ["a sandboxed page, in an old browser", { origin: "null" }],
  ])("is refused from %s", (_, headers) => {
    expect(checkOrigin({ ...request, ...headers })).toMatchObject({ status: 403 });
  });

  it("must be known for a write with a cookie", () => {
    expect(checkCookieWrite(request)).toMatchObject({ status: 403 });
    expect(checkCookieWrite({ ...request, fetchSite: "none" })).toMatchObject({ status: 403 });
    expect(checkCookieWrite({ ...request, origin: `http://${host}` })).toBeUndefined();
    expect(checkCookieWrite({ ...request, fetchSite: "same-origin" })).toBeUndefined();
  });
});
