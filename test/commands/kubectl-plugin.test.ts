import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { interlockProgram } from "../services/program.ts";

it("kubectl runs the program as a plugin, whose help and errors show how it was called", async () => {
  const directory = await mkdtemp(join(tmpdir(), "interlock-plugin-"));
  // npm installs a link of this name to the program; the program that tests build has no shebang, so a script starts the link.
  const [link, script] = [join(directory, "installed", "kubectl-interlock"), join(directory, "kubectl-interlock")];
  await mkdir(join(directory, "installed"));
  await symlink(await interlockProgram(), link);
  await writeFile(script, `#!/bin/sh\nexec ${process.execPath} ${link} "$@"\n`, { mode: 0o755 });
  const env = { PATH: `${directory}:${process.env["PATH"]}`, HOME: directory };
  const kubectl = (...args: readonly string[]) => promisify(execFile)("kubectl", ["interlock", ...args], { env });

  const { stdout } = await kubectl("help", "get");
  const { stderr, code } = await kubectl("gte").catch((error) => error);

  expect(stdout).toContain("Usage: kubectl interlock get [options] <kind> [name...]");
  expect(stderr).toContain("see kubectl interlock help");
  expect(code).toBe(2);
  await rm(directory, { recursive: true });
}, 60_000);
