import { describe, expect, it } from "vitest";
import { describeConfig, explainState } from "./describe.ts";
import { loadConfig } from "./load.ts";

describe("a described configuration", () => {
  it("lists every setting as it would be written, with its origin and without secrets", () => {
    const described = describeConfig(
      load({ STATE_BACKEND: "redis", REDIS_URL: "redis://:hunter2@redis" }, "locks:\n  ttl: 90000ms\n"),
    );

    const about = /^(state|redis|locks|claims|watermarks|log)\./;
    expect(described.filter(({ setting }) => about.test(setting))).toEqual([
      { setting: "state.backend", value: "redis", origin: "env STATE_BACKEND" },
      { setting: "redis.url", value: "[redacted]", origin: "env REDIS_URL" },
      { setting: "redis.sentinelPassword", value: "not set", origin: "default" },
      { setting: "redis.caFile", value: "not set", origin: "default" },
      { setting: "redis.host", value: "not set", origin: "default" },
      { setting: "redis.port", value: "6380", origin: "default" },
      { setting: "locks.backend", value: "redis", origin: "as state.backend" },
      { setting: "locks.ttl", value: "1m30s", origin: "file interlock.yaml:2" },
      { setting: "locks.wait", value: "30s", origin: "default" },
      { setting: "locks.namespace", value: "kubernaut-system", origin: "default" },
      { setting: "claims.lease", value: "1m", origin: "default" },
      { setting: "claims.doneTtl", value: "1h", origin: "default" },
      { setting: "claims.reviewDoneTtl", value: "24h", origin: "default" },
      { setting: "claims.memoryEntries", value: "10000", origin: "default" },
      { setting: "watermarks.overlap", value: "1m", origin: "default" },
      { setting: "watermarks.namespace", value: "interlock-watermarks", origin: "default" },
      { setting: "log.level", value: "info", origin: "default" },
      { setting: "log.format", value: "json", origin: "default" },
    ]);
  });

  it("marks settings that are not set", () => {
    expect(describeConfig(load({}))).toContainEqual({ setting: "redis.url", value: "not set", origin: "default" });
  });
});

describe("the explanation of the state", () => {
  it("lists what a restart loses when the backend is memory", () => {
    expect(explainState(load({ STATE_BACKEND: "memory" }))).toEqual([
      {
        backend: "memory",
        text: "state.backend is memory (env STATE_BACKEND): locks, claims and watermarks are kept in this process only. A restart loses the holders of locks, the completed claims and the position of each poller; other replicas do not share them.",
      },
    ]);
  });

  it("lists locks separately when they have another backend", () => {
    expect(
      explainState(load({ STATE_BACKEND: "kubernetes", LOCKS_BACKEND: "redis", REDIS_URL: "redis://redis" })),
    ).toEqual([
      {
        backend: "kubernetes",
        text: "state.backend is kubernetes (env STATE_BACKEND): claims and watermarks are kept in the Kubernetes API server. They survive a restart and are shared by all replicas.",
      },
      {
        backend: "redis",
        text: "locks.backend is redis (env LOCKS_BACKEND): locks are kept in Redis. They survive a restart and are shared by all replicas, as long as Redis keeps its data.",
      },
    ]);
  });
});

function load(env: Readonly<Record<string, string>>, text = "") {
  const outcome = loadConfig({ yaml: { path: "interlock.yaml", text }, env });
  if (outcome.kind === "invalid") throw new Error(outcome.problems.join("\n"));
  return outcome;
}
