import { execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLocalCoder } from "../../../src/agent/index.ts";
import { findIsolation, type Isolation } from "../../../src/process/index.ts";
import { recordingLogger } from "../../doubles/recording-logger.ts";
import { type CoderWishes, coderOptions, token } from "./coder-options.ts";

const tried = mkdtempSync(join(tmpdir(), "isolation-"));
const best = await findIsolation({ user: undefined, network: true }, tried);
rmSync(tried, { recursive: true });
const none: Isolation = { namespaces: undefined, user: undefined, network: true };
const inUserNamespace: Isolation = { namespaces: "user", user: undefined, network: true };
const levels: readonly (readonly [string, Isolation])[] = [
  ["the best that there is here", best],
  ["a user namespace", inUserNamespace],
  ["no isolation", none],
  ...(best.user ? ([["another user alone", { ...best, namespaces: undefined }]] as const) : []),
];

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "coder-test-"));
  // Other users may enter it.
  chmodSync(root, 0o711);
  mkdirSync(join(root, "data"), { mode: 0o700 });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe.each(levels)("a local coder, with %s,", (_, isolation) => {
  it("gets the request on its standard input and as a file, and edits", async () => {
    const outcome = await edit(
      'cat > asked; cmp asked "$1" && rm asked && echo more >> README && echo "added a line"',
      { isolation },
      "{requestFile}",
    );

    expect(outcome).toMatchObject({ kind: "edited", summary: "added a line" });
    expect(patchText(outcome)).toContain("+more");
  });

  it("starts in the given work tree, with a HOME and a TMPDIR that it can write to", async () => {
    const outcome = await edit(
      '[ "$PWD" = "$1" ] && touch "$HOME/x" "$TMPDIR/y" && ls && env | cut -d= -f1 | sort | tr "\\n" " "',
      { isolation, environment: { MODEL_KEY: "1" } },
      "{workTree}",
    );

    const ownOfShells = /\b(_|OLDPWD|PWD|SHLVL) /g;
    const summary = outcome.kind === "edited" ? outcome.summary : JSON.stringify(outcome);
    expect(`${summary} `.replace(ownOfShells, "")).toBe(
      "README\nsecond\nHOME INTERLOCK_CODER_RUN LANG MODEL_KEY PATH TMPDIR ",
    );
  });

  it("leaves nothing behind on disk", async () => {
    await edit('mkdir -p "$HOME/a/b" && chmod 0 "$HOME/a"', { isolation });

    expect(readdirSync(join(root, "scratch"))).toEqual([]);
    const left = readdirSync(join(root, "data"), { recursive: true }).map(String);
    expect(left.filter((name) => name.includes("/trees/"))).toEqual([]);
  });

  it("that hangs is killed at its time limit", async () => {
    // The same test runs with other isolations at the same time.
    const nap = `sleep ${1_000 + randomInt(1_000_000)}`;

    const outcome = await edit(nap, { isolation, limits: { timeoutMs: 300 } });

    expect(outcome).toMatchObject({ kind: "failed", reason: "Timeout", retry: true });
    expect(processesWith(nap)).toEqual([]);
  });

  it("that ignores signals is killed when the signal aborts", async () => {
    const stop = new AbortController();
    const running = edit("trap '' TERM INT HUP; touch begun; while :; do sleep 1001; done", { isolation, stop });
    await until(() => processesWith("sleep 1001").length > 0);
    stop.abort(new Error("cancelled by a person"));

    await expect(running).rejects.toThrow("cancelled by a person");
    expect(processesWith("sleep 1001")).toEqual([]);
  });

  it("whose child in another session survives it has the child killed, and its result counts", async () => {
    const outcome = await edit("(setsid sleep 1002 &) ; (setsid sleep 1002 >/dev/null 2>&1 </dev/null &); echo done", {
      isolation,
    });

    expect(outcome).toMatchObject({ kind: "edited", summary: "done" });
    expect(processesWith("sleep 1002")).toEqual([]);
  });

  it("whose child closed all files has the child killed", async () => {
    const close = "exec 0<&- 1>&- 2>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-";
    await edit(`setsid sh -c '${close}; sleep 1003 & exit' ; echo done`, { isolation });

    expect(processesWith("sleep 1003")).toEqual([]);
  });

  it("that writes without end is killed", async () => {
    const outcome = await edit("yes", { isolation });

    expect(outcome).toMatchObject({ kind: "failed", reason: "OutputTooLarge", retry: false });
  });

  it("that writes errors without end is killed", async () => {
    const outcome = await edit("yes >&2", { isolation });

    expect(outcome).toMatchObject({ kind: "failed", reason: "OutputTooLarge" });
  });

  it("that fills the disk is killed, with the reason", async () => {
    const outcome = await edit("i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > fill$i; sleep 0.02; done", {
      isolation,
    });

    expect(outcome).toMatchObject({ kind: "failed", reason: "WorkTreeTooLarge", retry: false });
    expect(outcome.kind === "failed" && outcome.message).toContain("5000000 bytes");
  });

  it("cannot create a file above the limit of all files", async () => {
    const outcome = await edit("head -c 50000000 /dev/zero > large; stat -c %s large >&2; rm large; exit 3", {
      isolation,
    });

    // On a slow machine the limit of the whole work tree may be noticed before the command removes the file.
    expect(["ExitCode", "WorkTreeTooLarge"]).toContain(outcome.kind === "failed" && outcome.reason);
    expect(outcome.kind === "failed" && outcome.message).toMatch(/\b5000000\b/);
  });

  it("that creates files without end is killed", async () => {
    const outcome = await edit("i=0; while [ $i -lt 5000 ]; do i=$((i+1)); : > file$i; done; sleep 1007", {
      isolation,
    });

    expect(outcome).toMatchObject({ kind: "failed", reason: "WorkTreeTooLarge" });
    expect(outcome.kind === "failed" && outcome.message).toContain("500 files");
  });

  it("that exits with an error fails, with its output and without our secrets", async () => {
    const outcome = await edit(`echo "cannot log in with ${token}" >&2; exit 3`, { isolation });

    expect(outcome).toEqual({
      kind: "failed",
      reason: "ExitCode",
      message: "The coder exited with code 3: cannot log in with [redacted]",
      retry: true,
    });
  });

  it("that is not installed is not started and not retried, and the message contains the fix", async () => {
    const log = recordingLogger();
    const outcome = await edit("", { isolation, log, command: ["no-such-coder"] });

    expect(outcome).toMatchObject({ kind: "failed", reason: "NotStarted", retry: false });
    const message = outcome.kind === "failed" ? outcome.message : "";
    expect(message).toContain("The coder could not be started (no-such-coder): ");
    expect(message).toContain("write its full path in agent.command (AGENT_COMMAND)");
    const fix = expect.stringContaining("it is searched in /usr/local/sbin:");
    expect(log.events).toContainEqual({
      level: "warn",
      event: "coder not found",
      fields: { command: "no-such-coder", fix },
    });
  });

  it.each([
    ["an absolute path", "/bin/sh"],
    ["a name on the PATH", "true"],
    ["a file of the repository", "./build.sh"],
  ])("with %s as its command is opened without a warning", async (_what, program) => {
    const log = recordingLogger();
    await edit("true", { isolation, log, command: [program] });

    expect(log.events).toEqual([]);
  });
});

// The patch does not depend on the isolation, only on the owner of the files.
describe.each(levels.filter(([, level]) => level === best || level === none))(
  "the change of a coder, with %s,",
  (_, isolation) => {
    it.each([
      ["edits .gitlab-ci.yml", "echo x: > .gitlab-ci.yml", "ProtectedPath"],
      ["adds a link out of the tree", "ln -s /etc/passwd users", "Symlink"],
      ["creates a patch of 20 MB", "for i in 1 2 3 4 5; do head -c 4000000 /dev/urandom > $i; done", "TooLarge"],
      ["changes too many files", "for i in $(seq 250); do echo x > f$i; done", "TooManyFiles"],
    ])("that %s has its change refused", async (_what, script, reason) => {
      const outcome = await edit(script, { isolation, limits: { maxAddedBytes: 50_000_000 } });

      expect(outcome).toMatchObject({ kind: "edited", change: { kind: "refused", reason } });
    });

    it("that writes hooks, filters and settings into its .git has none of them run or pushed", async () => {
      const hook = `#!/bin/sh\\ntouch ${"$"}{0%/*}/ran\\n`;
      const outcome = await edit(
        `mkdir -p .git/hooks own-hooks
      for h in pre-commit post-checkout post-index-change fsmonitor-watchman; do printf '${hook}' > .git/hooks/$h; cp .git/hooks/$h own-hooks/; chmod +x .git/hooks/$h own-hooks/$h; done
      git config core.hooksPath own-hooks; git config core.fsmonitor "$PWD/own-hooks/pre-commit"
      git config filter.evil.clean "touch ${root}/filter-ran; cat"; echo '* filter=evil' > .gitattributes; echo x >> README`,
        { isolation },
      );

      expect(existsSync(join(root, "filter-ran"))).toBe(false);
      expect(outcome).toMatchObject({ kind: "edited", change: { kind: "patch" } });
      const files = outcome.kind === "edited" && outcome.change.kind === "patch" ? outcome.change.patch.files : [];
      expect(files.filter((file) => file.includes(".git/") || file.endsWith("/ran"))).toEqual([]);
      expect(files).toContain("README");
    });

    it("finds no token and no remote in its .git", async () => {
      const outcome = await edit(
        "cat .git/config; git remote -v; grep -ral unused-token .git; git log --oneline | wc -l",
        {
          isolation,
        },
      );

      expect(outcome.kind === "edited" && outcome.summary).toMatch(/\n1$/);
      expect(JSON.stringify(outcome)).not.toMatch(/remote|unused-token|origin/);
    });

    it("that contains a secret of ours is refused", async () => {
      const outcome = await edit(`echo ${token} > config`, { isolation });

      expect(outcome).toMatchObject({ kind: "edited", change: { kind: "refused", reason: "Secret" } });
    });
  },
);

describe.each(levels.slice(0, 2))("a local coder that looks for tokens, with %s,", (_, isolation) => {
  it("sees no process but its own", async () => {
    const outcome = await edit('for p in /proc/[0-9]*; do tr "\\0" " " < "$p/cmdline"; echo; done', { isolation });

    expect(outcome).toMatchObject({ kind: "edited" });
    expect(JSON.stringify(outcome)).not.toContain("vitest");
  });

  it("finds our environment nowhere in /proc", async () => {
    process.env["CODER_TEST_SECRET"] = "in-our-environment";
    const outcome = await edit('cat /proc/*/environ 2>/dev/null | tr "\\0" "\\n"', { isolation });
    delete process.env["CODER_TEST_SECRET"];

    expect(outcome).toMatchObject({ kind: "edited" });
    expect(JSON.stringify(outcome)).not.toContain("in-our-environment");
  });

  it("finds neither our data directory, nor our files, nor the folders of other runs", async () => {
    mkdirSync(join(root, "scratch", "run-other", "home"), { recursive: true });
    writeFileSync(join(root, "data", "key"), "key-in-our-data-directory");
    writeFileSync(join(root, "token-file"), "content-of-a-file");
    const outcome = await edit(`ls -R ${root}/scratch ${root}/data; cat ${root}/data/key ${root}/token-file; true`, {
      isolation,
    });

    expect(outcome).toMatchObject({ kind: "edited" });
    expect(JSON.stringify(outcome)).not.toMatch(/run-other|key-in-our|content-of|origin/);
  });

  it("cannot restore hidden files", async () => {
    writeFileSync(join(root, "data", "key"), "key-in-our-data-directory");
    const script = `umount ${root}/data; unshare -Urm sh -c 'umount ${root}/data; umount -l ${root}/data; cat ${root}/data/key'; cat ${root}/data/key; true`;
    const outcome = await edit(`${script} 2>&1`, { isolation });

    expect(JSON.stringify(outcome)).not.toContain("key-in-our-data");
  });

  it("has no privileges, and gains none by set-uid programs", async () => {
    const outcome = await edit("grep -E 'Cap(Eff|Prm|Bnd|Amb)|NoNewPrivs' /proc/self/status", { isolation });

    const summary = outcome.kind === "edited" ? outcome.summary : JSON.stringify(outcome);
    expect(summary.replaceAll("\t", " ").split("\n").sort()).toEqual(
      ["CapAmb", "CapBnd", "CapEff", "CapPrm"].map((name) => `${name}: 0000000000000000`).concat("NoNewPrivs: 1"),
    );
  });
});

describe("a local coder", () => {
  it("reaches no network without agent.network", async () => {
    const outcome = await edit("ls /sys/class/net; cat /proc/net/dev | cut -d: -f1 | tail -n +3 | tr -d ' '", {
      isolation: { ...best, network: false },
    });

    expect(outcome).toMatchObject({ kind: "edited" });
    expect(outcome.kind === "edited" && outcome.summary.split("\n").at(-1)).toBe("lo");
  });

  it("does not start with a variable that contains a secret of ours", async () => {
    const { options, workshop } = await coderOptions(root, { environment: { HARMLESS: `x${token}` } });
    await using _ = workshop;
    const opening = openLocalCoder(options);

    await expect(opening).rejects.toThrow("HARMLESS");
  });

  it("ends with our process, for any reason", async () => {
    const ours = spawn(
      process.execPath,
      ["--import", "tsx", fileURLToPath(new URL("./coder-process.ts", import.meta.url)), root],
      {
        stdio: "inherit",
      },
    );
    await until(() => processesWith("sleep 1005").length > 0);
    ours.kill("SIGKILL");

    await until(() => processesWith("sleep 1005").length === 0);
  });

  it("whose process of ours died is killed when the next one starts", async () => {
    const folder = join(root, "scratch", "run-lost");
    mkdirSync(folder, { recursive: true });
    for (const name of ["owner", "lock"]) writeFileSync(join(folder, name), "");
    execFileSync("sh", ["-c", `setsid flock --no-fork -x ${folder}/lock sleep 1004 >/dev/null 2>&1 &`]);
    await until(() => processesWith("sleep 1004").length > 0);

    const { options, workshop } = await coderOptions(root, { isolation: best });
    await using _ = workshop;
    await openLocalCoder(options);

    expect(processesWith("sleep 1004")).toEqual([]);
    expect(existsSync(folder)).toBe(false);
  });
});

interface Wishes extends CoderWishes {
  readonly stop?: AbortController;
}

/** Runs a shell script as the agent, asked to edit. */
async function edit(script: string, wishes: Wishes, ...args: string[]) {
  const { stop, ...others } = wishes;
  const command = ["sh", "-c", script, "agent", ...args];
  const { options, order, workshop } = await coderOptions(root, { command, ...others });
  await using _ = workshop;
  const coder = await openLocalCoder(options);
  return await coder.run(order(), (stop ?? new AbortController()).signal);
}

function patchText(outcome: Awaited<ReturnType<typeof edit>>): string {
  return outcome.kind === "edited" && outcome.change.kind === "patch"
    ? Buffer.from(outcome.change.patch.bytes).toString()
    : JSON.stringify(outcome);
}

/** Numbers of the processes with exactly this command line. */
function processesWith(commandLine: string): readonly string[] {
  const lines = execFileSync("ps", ["-eo", "pid,args"]).toString().split("\n");
  return lines.filter((line) => line.trim().replace(/^\d+\s+/, "") === commandLine);
}

async function until(isSo: () => boolean) {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 20));
}
