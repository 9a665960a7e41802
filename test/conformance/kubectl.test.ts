import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kubeconfigFor } from "../../src/apiserver/kubeconfig.ts";
import { selfSigned } from "../../src/apiserver/self-signed.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { kubectlCommands, type Shell, shell } from "./kubectl-command.ts";
import { serverUnderTest, tokens } from "./server-under-test.ts";

const ns = "kctl-transcript";

/** Sent as protobuf by kubectl 1.32, and refused. Where later commands need the outcome, it is made with JSON. */
const protobuf = [
  { start: `kubectl create namespace ${ns}`, needed: true },
  { start: "kubectl create configmap", needed: true },
  { start: "kubectl create secret", needed: true },
  { start: "kubectl create serviceaccount", needed: true },
  { start: "kubectl create token", needed: false },
  { start: "kubectl create role", needed: false },
  { start: "kubectl auth can-i", needed: false },
  { start: "sleep 1; kubectl auth can-i", needed: false },
];

/** Server-side apply is refused; the object that later commands need is made by an ordinary apply. */
const applyInstead = `kubectl apply -n ${ns} -f manifests/wfe-ssa.yaml`;

/** Who owns which field is written down for server-side apply alone, and so it is not written down here. */
const managedFields = "--show-managed-fields";

const version = kubectlVersion();

describe("kubectl against the embedded API server prints what it printed against a real one:", () => {
  const home = mkdtempSync(join(tmpdir(), "interlock-kubectl-"));
  const terminal: Shell = { home, kubeconfig: join(home, "config") };
  let server: Awaited<ReturnType<typeof serverUnderTest>>;

  beforeAll(async () => {
    const tls = selfSigned(["127.0.0.1"], systemClock().wallMs(), systemRandom());
    server = await serverUnderTest({ tls });
    const { url } = server;
    writeFileSync(terminal.kubeconfig, kubeconfigFor({ url, token: tokens.admin, certificate: tls.certificate }));
  });

  afterAll(async () => {
    await server.close();
    rmSync(home, { recursive: true, force: true });
  });

  if (version === undefined || version < 28) {
    it(`cannot be shown here: kubectl 1.28 or later is not on the PATH`, () => {});
    return;
  }

  for (const { cmd, env, exitCode, stdoutPattern = "", stderrPattern = "" } of kubectlCommands(ns)) {
    const asProtobuf = protobuf.find(({ start }) => cmd.startsWith(start));
    if (asProtobuf) {
      it(`prints the replacement of ${cmd}`, async () => {
        const [line = ""] = cmd.split(" | ");
        const refused = await shell(line, terminal, env);
        const json = `${line} --dry-run=client -o json | kubectl create -f -`;
        const made = asProtobuf.needed ? await shell(json, terminal) : { exitCode: 0 };

        expect(refused.stderr).toMatch(/protobuf bodies are not supported|does not serve/);
        expect(made.exitCode).toBe(0);
      });
    } else if (cmd.includes(managedFields)) {
      it(`finds no managed fields with ${cmd}`, async () => {
        expect(await shell(cmd, terminal, env)).toEqual({ exitCode: 0, stdout: "", stderr: "" });
      });
    } else if (cmd.includes("--server-side")) {
      it(`prints the replacement of ${cmd}`, async () => {
        const refused = await shell(cmd, terminal, env);
        await shell(applyInstead, terminal);

        expect(refused.stderr).toMatch(/server-side apply is not supported/i);
      });
    } else {
      it(cmd, async () => {
        const printed = await shell(cmd, terminal, env);

        expect(printed.stdout).toMatch(new RegExp(stdoutPattern));
        expect(withoutLastGasp(printed.stderr)).toMatch(new RegExp(stderrPattern));
        expect(printed.exitCode).toBe(exitCode);
      });
    }
  }
});

/** Over HTTP/1.1 kubectl may start one watch too many in the instant of its deadline, and complain of its own doing. */
function withoutLastGasp(stderr: string): string {
  return stderr.replace(/^E\d{4} .*reflector\.go.*context deadline exceeded.*\n/gm, "");
}

/** The minor version of the kubectl on the PATH. */
function kubectlVersion(): number | undefined {
  try {
    const text = execFileSync("kubectl", ["version", "--client", "-o", "json"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    return Number.parseInt(JSON.parse(text).clientVersion.minor, 10);
  } catch {
    return undefined;
  }
}
