import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type LoadedConfig, loadConfig } from "../config/index.ts";
import { namespaces } from "../kube/index.ts";
import { systemClock, systemRandom } from "../time/index.ts";
import { openApiServer } from "./open-client.ts";

describe("the API server of a command", () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "interlock-kubeconfig-"));
    for (const name of ["named", "configured", "own", "kubectl"]) await writeKubeconfig(name);
  });
  afterEach(() => rm(directory, { recursive: true }));

  const ports = { named: 1, configured: 2, own: 3, kubectl: 4, home: 6 };
  const otherContext = 5;

  it.each([
    {
      server: "named",
      when: { option: "named", INTERLOCK_KUBECONFIG: "configured", KUBECONFIG: "kubectl", own: true },
    },
    { server: "configured", when: { INTERLOCK_KUBECONFIG: "configured", KUBECONFIG: "kubectl", own: true } },
    { server: "own", when: { KUBECONFIG: "kubectl", own: true } },
    { server: "kubectl", when: { KUBECONFIG: "kubectl" } },
    { server: "kubectl", when: { KUBECONFIG: "missing:kubectl:named" } },
    { server: "kubectl", when: { KUBECONFIG: "kubectl", home: true } },
    { server: "home", when: { home: true } },
    { server: "home", when: { KUBECONFIG: "missing", home: true } },
  ] as const)("is the one of $server with $when", async ({ server, when }) => {
    expect(await portFor(when)).toBe(ports[server]);
  });

  it.each([
    ["--context", { option: "named", context: "other", INTERLOCK_KUBE_CONTEXT: "main" }],
    ["INTERLOCK_KUBE_CONTEXT", { INTERLOCK_KUBECONFIG: "configured", INTERLOCK_KUBE_CONTEXT: "other" }],
    ["--context, with KUBECONFIG", { KUBECONFIG: "kubectl", context: "other" }],
    [
      "--context, and only KUBECONFIG has, beside our own server",
      { own: true, KUBECONFIG: "kubectl", context: "other" },
    ],
  ])("is the one of the context that %s names", async (_what, when) => {
    expect(await portFor(when)).toBe(otherContext);
  });

  it("is rejected if the kubeconfig does not contain the context", async () => {
    await expect(portFor({ option: "named", context: "nowhere" })).rejects.toThrow("nowhere");
  });

  it("fails with what to do if no kubeconfig exists", async () => {
    await expect(portFor({})).rejects.toThrow(/kubeconfig .* does not exist; start Interlock .* --kubeconfig/);
  });

  it.each([
    [{ option: "missing" }, "missing does not exist; name another file with --kubeconfig"],
    [{ INTERLOCK_KUBECONFIG: "missing" }, "missing does not exist; name another file with objects.kubeconfig"],
  ])("is reported as missing with %j, which names a file that does not exist", async (when, problem) => {
    await expect(portFor(when)).rejects.toThrow(problem);
  });

  interface When {
    readonly option?: string;
    readonly context?: string;
    readonly INTERLOCK_KUBECONFIG?: string;
    readonly INTERLOCK_KUBE_CONTEXT?: string;
    readonly KUBECONFIG?: string;
    /** Whether `up` has written a kubeconfig into the data directory. */
    readonly own?: boolean;
    /** Whether there is a `~/.kube/config`. */
    readonly home?: boolean;
  }

  /** The port of the server that is asked: nothing listens there, and the error names it. */
  async function portFor({ option, context, own, home, KUBECONFIG, ...env }: When): Promise<number> {
    const at = (name: string) => join(directory, name);
    if (env.INTERLOCK_KUBECONFIG) env.INTERLOCK_KUBECONFIG = at(env.INTERLOCK_KUBECONFIG);
    const { config } = loadConfig({ env }) as LoadedConfig;
    if (own) await writeKubeconfig("own", "kubeconfig");
    if (home) await mkdir(at(".kube"));
    if (home) await writeKubeconfig("home", ".kube/config");
    const client = await openApiServer({
      kubeconfig: option && at(option),
      context,
      directory,
      config,
      env: { HOME: directory, ...(KUBECONFIG && { KUBECONFIG: KUBECONFIG.split(":").map(at).join(":") }) },
      clock: systemClock(),
      random: systemRandom(),
    });
    const error = await client.list(namespaces).catch((error: Error) => error);
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(String(error)) ?? [];
    return Number(port);
  }

  async function writeKubeconfig(name: keyof typeof ports | string, file = name) {
    const port = ports[name as keyof typeof ports];
    const clusters = [
      { name: "main", cluster: { server: `http://127.0.0.1:${port}` } },
      ...(name === "own" ? [] : [{ name: "other", cluster: { server: `http://127.0.0.1:${otherContext}` } }]),
    ];
    const contexts = clusters.map(({ name }) => ({ name, context: { cluster: name, user: "user" } }));
    const users = [{ name: "user", user: { token: "a-token" } }];
    const kubeconfig = { apiVersion: "v1", kind: "Config", clusters, contexts, users, "current-context": "main" };
    await writeFile(join(directory, file), JSON.stringify(kubeconfig));
  }
});
