import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { systemClock, systemRandom } from "../../time/index.ts";
import { printTo } from "../output/terminal.ts";
import { interlock } from "../program.ts";

describe("interlock config view", () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "interlock-config-"));
  });
  afterEach(() => rm(home, { recursive: true }));

  it("prints each setting with its value and its origin, by precedence", async () => {
    const config = join(home, "settings.yaml");
    await writeFile(config, "locks:\n  ttl: 45s\n  wait: 10s\nobjects:\n  context: file\n  namespace: file\n");
    const env = {
      INTERLOCK_CONFIG: config,
      INTERLOCK_LOCKS_TTL: "50s",
      INTERLOCK_KUBE_CONTEXT: "env",
      INTERLOCK_NAMESPACE: "env",
    };

    const rows = JSON.parse(await view(env, "--context", "option", "-o", "json"));

    for (const row of [
      { setting: "--config", value: config, origin: "env INTERLOCK_CONFIG" },
      { setting: "locks.ttl", value: "50s", origin: "env INTERLOCK_LOCKS_TTL" },
      { setting: "locks.wait", value: "10s", origin: `file ${config}:3` },
      { setting: "locks.backend", value: "kubernetes", origin: "as state.backend" },
      { setting: "claims.lease", value: "1m", origin: "default" },
      { setting: "objects.namespace", value: "env", origin: "env INTERLOCK_NAMESPACE" },
      { setting: "objects.context", value: "option", origin: "--context" },
      { setting: "--context", value: "option", origin: "--context" },
    ])
      expect(rows).toContainEqual(row);
  });

  it("prints the kubeconfig and the context that commands use", async () => {
    const kubeconfig = join(home, "kube");
    await writeFile(kubeconfig, JSON.stringify({ "current-context": "prod", contexts: [{ name: "prod" }] }));

    const rows = JSON.parse(await view({ KUBECONFIG: kubeconfig }, "-o", "json"));

    expect(rows).toContainEqual({ setting: "--kubeconfig", value: kubeconfig, origin: "KUBECONFIG" });
    const context = { setting: "--context", value: "prod", origin: "current context of the kubeconfig" };
    expect(rows).toContainEqual(context);
  });

  it("prints no secret", async () => {
    const env = { STATE_BACKEND: "redis", REDIS_URL: "redis://:hunter2@redis" };

    expect(await view(env)).not.toContain("hunter2");
    expect(await view(env)).toMatch(/redis\.url +\[redacted\] +env REDIS_URL/);
  });

  it("prints only settings that are not defaults with --changed", async () => {
    const rows = parse(await view({ INTERLOCK_LOG_LEVEL: "debug" }, "--changed", "-o", "yaml"));

    expect(rows).toContainEqual({ setting: "log.level", value: "debug", origin: "env INTERLOCK_LOG_LEVEL" });
    expect(rows.filter(({ origin }: { origin: string }) => origin === "default")).toEqual([]);
  });

  async function view(env: Readonly<Record<string, string>>, ...options: readonly string[]): Promise<string> {
    const printed: string[] = [];
    const screen = { write: (text: string) => void printed.push(text), isTerminal: false, hasColours: false };
    const terminal = { ...printTo(screen, screen), user: "kim" };
    const context = { clock: systemClock(), random: systemRandom(), env, terminal };
    await interlock(["config", "view", "--data", home, ...options], {
      withCommandContext: (_options, work) => work(context),
      withServerContext: () => Promise.reject(new Error("no server is needed")),
    });
    return printed.join("");
  }
});
