import { describe, expect, it } from "vitest";
import { parseAddress } from "./address.ts";

describe("the address of a backend", () => {
  it.each([
    ["memory:", { backend: "memory" }],
    ["redis://127.0.0.1:6379", { backend: "redis", url: "redis://127.0.0.1:6379" }],
    ["rediss://user:secret@host/1", { backend: "redis", url: "rediss://user:secret@host/1" }],
    ["redis+sentinel://a:26379,b:26379/main", { backend: "redis", url: "redis+sentinel://a:26379,b:26379/main" }],
    ["kubernetes:", { backend: "kubernetes" }],
    ["kubernetes:jobs", { backend: "kubernetes", namespace: "jobs" }],
    [
      "kubernetes:jobs?kubeconfig=/etc/kube/config&context=prod",
      { backend: "kubernetes", namespace: "jobs", kubeconfig: "/etc/kube/config", context: "prod" },
    ],
  ])("%s is read", (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  it.each([
    ["", "the address names no backend; write memory:, redis://HOST:6379"],
    ["localhost", "the address names no backend; write"],
    ["postgres://user:secret@host/db", 'unknown backend "postgres"; write'],
    ["kubernetes:Jobs", "not a Kubernetes address; write"],
    ["kubernetes:jobs?token=secret", 'unknown parameter "token"; write'],
  ])("%j is refused with the forms to write, and without its password", (text, problem) => {
    const refused = () => parseAddress(text);

    expect(refused).toThrow(TypeError);
    expect(refused).toThrow(problem);
    expect(refused).not.toThrow(/secret/);
  });
});
