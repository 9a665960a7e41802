import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/doubles/manual-clock.ts";
import { systemClock } from "../../time/index.ts";
import { type ExecPlugin, execCredentials } from "./exec-plugin.ts";

const v1 = "client.authentication.k8s.io/v1";
const v1beta1 = "client.authentication.k8s.io/v1beta1";
let folder: string;
let clock: ManualClock;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "exec-plugin-"));
  clock = new ManualClock();
});
afterEach(() => rm(folder, { recursive: true }));

describe("an exec plugin", () => {
  it("runs once for all requests, until the server refuses its token", async () => {
    const credentials = execCredentials(await plugin({ script: printing({ token: "token-$RUNS" }) }));

    const [one, again] = await Promise.all([credentials({ clock }), credentials({ clock })]);
    const later = await credentials({ clock });
    const fresh = await Promise.all([credentials({ clock, refused: one }), credentials({ clock, refused: one })]);
    const late = await credentials({ clock, refused: one });

    expect([one, again, later]).toEqual(Array(3).fill({ token: "token-1" }));
    expect([...fresh, late]).toEqual(Array(3).fill({ token: "token-2" }));
  });

  it("runs again when its credentials have expired", async () => {
    const expirationTimestamp = new Date(clock.wallMs() + 60_000).toISOString();
    const script = printing({ token: "token-$RUNS", expirationTimestamp });
    const credentials = execCredentials(await plugin({ script }));

    const first = await credentials({ clock });
    await clock.advance(59_999);
    const cached = await credentials({ clock });
    await clock.advance(1);
    const second = await credentials({ clock });

    expect([first, cached, second].map(({ token }) => token)).toEqual(["token-1", "token-1", "token-2"]);
  });

  it("may return a client certificate with its key", async () => {
    const script = printing({ clientCertificateData: "CERT", clientKeyData: "KEY" });

    expect(await run({ script })).toEqual({ cert: "CERT", key: "KEY" });
  });

  it.each([v1, v1beta1] as const)(
    "of %s receives its arguments unchanged, its environment and the version",
    async (apiVersion) => {
      const script = `printf '%s\\n' "$1" "$GIVEN" "$INHERITED" "$KUBERNETES_EXEC_INFO" > seen\n${printing({ token: "T" }, apiVersion)}`;
      const args = ["$(touch shell) ; *"];

      await run({ script, apiVersion, args, env: [{ name: "GIVEN", value: "by the kubeconfig" }] });

      expect((await readFile(join(folder, "seen"), "utf8")).split("\n")).toEqual([
        ...["$(touch shell) ; *", "by the kubeconfig", "from the environment"],
        JSON.stringify({ apiVersion, kind: "ExecCredential", spec: { interactive: false } }),
        "",
      ]);
      await expect(readFile(join(folder, "shell"))).rejects.toThrow("ENOENT");
    },
  );

  it("receives the cluster if it is configured to", async () => {
    const script = `printf '%s' "$KUBERNETES_EXEC_INFO" > seen\n${printing({ token: "T" })}`;

    await run({ script, provideClusterInfo: true });

    expect(JSON.parse(await readFile(join(folder, "seen"), "utf8")).spec.cluster).toEqual({
      server: "https://one:6443",
      "certificate-authority-data": "Q0E=",
      config: { audience: "a" },
    });
  });

  it.each([
    ["Never", true, false],
    ["IfAvailable", true, true],
    ["IfAvailable", false, false],
    ["Always", true, true],
  ] as const)(
    "with interactiveMode %s and a terminal: %s is interactive: %s",
    async (mode, hasTerminal, interactive) => {
      const script = `printf '%s' "$KUBERNETES_EXEC_INFO" > seen\n${printing({ token: "T" })}`;

      await run({ script, interactiveMode: mode }, { hasTerminal });

      expect(JSON.parse(await readFile(join(folder, "seen"), "utf8")).spec).toEqual({ interactive });
    },
  );

  it("is found relative to the kubeconfig", async () => {
    const { config, ...rest } = await plugin({ script: printing({ token: "T" }) });

    expect(await execCredentials({ ...rest, config: { ...config, command: "./plugin" } })({ clock })).toEqual({
      token: "T",
    });
  });
});

describe("an exec plugin that fails", () => {
  it.each<[string, string, string]>([
    ["with an exit status", "echo s3cret; exit 3", "failed (exit status 3); run it by hand to see why"],
    ["by printing something else", "echo s3cret", "printed no ExecCredential"],
    ["by printing half a certificate", printing({ clientCertificateData: "s3cret" }), "printed no ExecCredential"],
    ["by printing no credential", printing({}), "printed no ExecCredential"],
    ["by printing another version", printing({ token: "s3cret" }, "v0"), `printed another apiVersion than ${v1}`],
    ["by printing without end", "while :; do echo s3cret; done", "printed more than 1048576 bytes"],
  ])("%s makes calls unavailable, and its output is not quoted", async (_how, script, problem) => {
    const error = await run({ script }).catch((error: unknown) => error);

    expect(error).toMatchObject({ code: "unavailable", message: expect.stringContaining(problem) });
    expect((error as Error).message).toContain('plugin" of kubeconfig user "me"');
    expect(`${(error as Error).message} ${(error as Error).cause}`).not.toContain("s3cret");
  });

  it("because it is not installed is reported with its install hint", async () => {
    const { config, ...rest } = await plugin({ script: "" });
    const missing = { ...config, command: "no-such-plugin", installHint: "Install it:\n  apt install it" };

    await expect(execCredentials({ ...rest, config: missing })({ clock })).rejects.toThrow(
      'exec plugin "no-such-plugin" of kubeconfig user "me" cannot be started (ENOENT); Install it: apt install it',
    );
  });

  it("because it does not end is killed after the timeout", async () => {
    const script = "echo $$ > pid; exec sleep 1000";

    await expect(
      execCredentials({ ...(await plugin({ script })), limits: { unattendedMs: 500, interactiveMs: 1 } })({
        clock: systemClock(),
      }),
    ).rejects.toThrow("did not finish within 500 ms");
  });

  it("because it needs a terminal is not started without one", async () => {
    await expect(run({ script: "touch started", interactiveMode: "Always" })).rejects.toThrow("needs a terminal");
    await expect(readFile(join(folder, "started"))).rejects.toThrow("ENOENT");
  });

  it("runs again for the next request", async () => {
    const script = `[ $RUNS = 1 ] && exit 1\n${printing({ token: "token-$RUNS" })}`;
    const credentials = execCredentials(await plugin({ script }));

    await expect(credentials({ clock })).rejects.toThrow("exit status 1");

    expect(await credentials({ clock })).toEqual({ token: "token-2" });
  });
});

type Given = Partial<ExecPlugin["config"]> & { readonly script: string };

async function run(given: Given, options: Partial<ExecPlugin> = {}) {
  return execCredentials({ ...(await plugin(given)), ...options })({ clock });
}

/** A shell script as a plugin, which counts its runs in RUNS and works in `folder`. */
async function plugin({ script, ...config }: Given): Promise<ExecPlugin> {
  const command = join(folder, "plugin");
  const count = `cd ${folder}; echo x >> runs; RUNS=$(wc -l < runs | tr -d ' ')`;
  await writeFile(command, `#!/bin/sh\n${count}\n${script}\n`);
  await chmod(command, 0o755);
  return {
    config: { apiVersion: v1, command, ...config },
    user: "me",
    resolve: (path) => resolve(folder, path),
    cluster: {
      server: "https://one:6443",
      "tls-server-name": undefined,
      "insecure-skip-tls-verify": undefined,
      "certificate-authority-data": "Q0E=",
      "disable-compression": undefined,
      config: { audience: "a" },
    },
    env: { PATH: process.env["PATH"], INHERITED: "from the environment" },
    hasTerminal: false,
  };
}

function printing(status: object, apiVersion = v1): string {
  return `cat <<END\n${JSON.stringify({ apiVersion, kind: "ExecCredential", status })}\nEND`;
}
