import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openClient } from "../../src/app/index.ts";
import { automationPauses, installCrds } from "../../src/resources/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { startApiServer } from "../services/api-server.ts";
import { interlockProgram } from "../services/program.ts";

const run = promisify(execFile);

/** Each prints the candidates for the command line in $LINE, one per line, by the shell's own means where it has any. */
const shells = {
  bash: [
    "bash",
    "--norc",
    "-c",
    `source "$SCRIPT"; COMP_LINE=$LINE; COMP_POINT=\${#LINE}; _interlock; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: [
    "zsh",
    "-f",
    "-c",
    // _describe needs the line editor; it gets an array of candidates, which the test prints.
    `compdef() { }; _describe() { print -l -- "\${(@P)3}" }; _files() { print FILES }
source "$SCRIPT"; words=("\${(@s: :)LINE}"); [[ $LINE == *' ' ]] && words+=(""); CURRENT=\${#words}; _interlock | sed 's/\\([^\\\\]\\):.*/\\1/'`,
  ],
  fish: ["fish", "--no-config", "-c", `source $SCRIPT; complete -C $LINE | string split -f 1 \\t; true`],
} as const;

describe.each(Object.entries(shells))("interlock completion %s", (shell, [program, ...args]) => {
  let api: Awaited<ReturnType<typeof startApiServer>>;
  let directory: string;
  beforeAll(async () => {
    api = await startApiServer();
    directory = await mkdtemp(join(tmpdir(), "interlock-completion-"));
    await writeFile(
      join(directory, "interlock"),
      `#!/bin/sh\nexec ${process.execPath} ${await interlockProgram()} "$@"\n`,
    );
    await chmod(join(directory, "interlock"), 0o755);
    const { stdout } = await run(join(directory, "interlock"), ["completion", shell]);
    await writeFile(join(directory, "script"), stdout);
    const client = await openClient(api.kubeconfigFile, { env: {}, clock: systemClock(), random: systemRandom() });
    await installCrds(client);
    const { apiVersion, kind } = automationPauses;
    const spec = { scope: "All", reason: "release", requestedBy: "kim" } as const;
    for (const name of ["freeze", "frost", "other"]) {
      await client.create(automationPauses, { apiVersion, kind, metadata: { name, namespace: "default" }, spec });
    }
  }, 60_000);
  afterAll(async () => {
    await api[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  it.each([
    ["interlock comp", ["completion"]],
    ["interlock get pau", ["pauses"]],
    ["interlock get pauses --wat", ["--watch"]],
    ["interlock get pauses KUBECONFIG fr", ["freeze", "frost"]],
    ["interlock get pauses KUBECONFIG nothing", []],
  ])(
    "completes %j to %j",
    async (line, expected) => {
      const LINE = line.replace("KUBECONFIG", `--kubeconfig ${api.kubeconfigFile}`);
      const env = {
        PATH: `${directory}:${process.env["PATH"]}`,
        HOME: directory,
        SCRIPT: join(directory, "script"),
        LINE,
      };

      const { stdout } = await run(program, args, { env });

      expect(stdout.split("\n").filter(Boolean).sort()).toEqual(expected);
    },
    30_000,
  );
});
