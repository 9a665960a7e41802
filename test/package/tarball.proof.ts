import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../executor/processes/until.ts";
import { dieWithUs, waitForOutput } from "../services/child.ts";
import { freePort } from "../services/free-port.ts";
import { copyWorkingTree, npmEnv, root } from "../services/working-tree.ts";
import { Tarball } from "./tarball.ts";

const exec = promisify(execFile);
const { name, version, bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const commit = "0123456789ab";

describe("the tarball of npm pack", { timeout: 300_000 }, () => {
  let tarball: Tarball;
  beforeAll(async () => {
    tarball = await Tarball.pack({ commit });
  });
  afterAll(() => tarball.remove());

  it("has the program, its data, its notices and the pages that its messages name, and no test, source or other leftover", async () => {
    const files = [...(await tarball.list()).keys()];

    const allowed =
      /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/\w+\.mjs|dist\/chunks\/[\w-]+\.mjs|dist\/prebuilds\/[\w-]+\/@photostructure\+sqlite\.\w+\.node|dist\/types\/.*\.d\.ts|dist\/web\/(index\.html|assets\/[\w.-]+\.(js|css|svg))(\.gz|\.br)?|dist\/THIRD-PARTY-NOTICES\.txt|dist\/sbom\.cdx\.json|docs\/[\w/-]+\.md|rules\/.*|workflows\/.*|examples\/node-disk-pressure\.json)$/;
    expect(files.filter((file) => !allowed.test(file))).toEqual([]);
    expect(files).toEqual(
      expect.arrayContaining(["LICENSE", "dist/THIRD-PARTY-NOTICES.txt", "docs/workflows.md", bin.interlock]),
    );
    expect(statSync(tarball.file).size).toBeLessThan(8_000_000);
  });

  it("has a bill of materials with the licence and checksum of every package in the bundle", async () => {
    const read = async (file: string) => (await exec("tar", ["-xOzf", tarball.file, `package/dist/${file}`])).stdout;
    const { bomFormat, specVersion, metadata, components } = JSON.parse(await read("sbom.cdx.json"));

    expect({ bomFormat, specVersion }).toEqual({ bomFormat: "CycloneDX", specVersion: "1.6" });
    expect(metadata.component).toMatchObject({
      name,
      version,
      purl: `pkg:npm/%40interlock-ops/interlock@${version}`,
      properties: [{ name: "interlock:commit", value: commit }],
    });
    const notices = await read("THIRD-PARTY-NOTICES.txt");
    for (const one of components) {
      expect(notices).toContain(`${one.name} ${one.version} (${one.licenses[0].license.id})`);
      expect(one.hashes, one.name).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
    }
    expect(components.map((one: { name: string }) => one.name)).toEqual(
      expect.arrayContaining(["fastify", "zod", "@photostructure/sqlite", "preact"]),
    );
  });

  it("has an executable program with a shebang", async () => {
    const files = await tarball.list();

    expect(files.get(bin.interlock)).toMatch(/^-rwxr-xr-x/);
    const { stdout } = await exec("tar", ["-xOzf", tarball.file, `package/${bin.interlock}`]);
    expect(stdout).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it("needs no other package and no script at its installation", async () => {
    const { stdout } = await exec("tar", ["-xOzf", tarball.file, "package/package.json"]);
    const { dependencies, optionalDependencies, peerDependencies, scripts } = JSON.parse(stdout);

    expect({ dependencies, optionalDependencies, peerDependencies }).toEqual({});
    expect(Object.keys(scripts).filter((script) => /^(pre|post)?install$/.test(script))).toEqual([]);
  });

  it("prints its version and its commit", async () => {
    const directory = emptyDirectory("version");
    const env = tarball.freshEnv();

    await exec("npm", ["install", "--silent", tarball.file], { cwd: directory, env });

    const { stdout } = await exec(join(directory, "node_modules/.bin/interlock"), ["--version"], {
      cwd: directory,
      env,
    });
    expect(stdout).toBe(`interlock ${version} (commit ${commit}), Node ${process.versions.node}\n`);
  });

  it("prints few lines for an error of the library that is not caught", async () => {
    const directory = emptyDirectory("uncaught");
    await exec("npm", ["install", "--silent", tarball.file], { cwd: directory, env: tarball.freshEnv() });
    const script = `import { openLocks } from "${name}/coordination"; await openLocks("kubernetes:?kubeconfig=/nowhere");`;

    const { stderr } = await exec(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: directory,
    }).catch((error: { readonly stderr: string }) => error);

    expect(stderr).toContain("KubeError: kubeconfig: /nowhere cannot be read");
    expect(stderr.length).toBeLessThan(4_000);
  });

  it("runs by npx in an empty directory, without a registry, up to the first explained skip", async () => {
    const directory = emptyDirectory("npx");
    const listen = { GATEWAY_LISTEN: `127.0.0.1:${await freePort()}`, CONSOLE_LISTEN: "127.0.0.1:0" };
    const env = { ...tarball.freshEnv(), ...listen };
    const args = ["--yes", relative(directory, tarball.file), "up", "--listen", "127.0.0.1:0"];

    const npx = spawn("npx", args, { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    dieWithUs(npx);
    const { input: screen } = await waitForOutput(npx, /Next, in a second terminal:\n\n.+\n\n/s);
    const type = async (line: string) => {
      const { stdout } = await exec("sh", ["-c", `${functionLine(screen)}\n${line}`], { cwd: directory, env });
      return stdout;
    };

    const [, next = ""] = /^ {2}(interlock receive .*)$/m.exec(screen) ?? [];
    const [, incident] = /^created (rr-\S+): /.exec(await type(next)) ?? [];
    await until("the run has ended", async () => (await type(`interlock why ${incident}`)).includes("Verifying"));
    expect(await type("interlock run node-disk-cleanup --target node/worker-1 || true")).toContain(
      "skipped, RecentlyRemediated: ",
    );
    const ended = once(npx, "exit");
    process.kill(-(npx.pid as number), "SIGTERM");
    await ended;
  });

  it("is also built by an installation from its folder", async () => {
    const folder = join(tarball.directory, "folder");
    await copyWorkingTree(folder);
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    const user = emptyDirectory("user");

    await exec("npm", ["install", "--silent", "--no-audit", "--no-fund", folder], { cwd: user, env: npmEnv() });

    const { stdout } = await exec(join(user, "node_modules/.bin/interlock"), ["--version"], { cwd: user });
    expect(stdout).toContain(`interlock ${version} (commit unknown)`);
  });

  function emptyDirectory(purpose: string): string {
    const directory = join(tarball.directory, purpose);
    mkdirSync(directory);
    return directory;
  }
});

/** The line of the screen that makes `interlock` this program. An alias works in a terminal only; a function works here, too. */
function functionLine(screen: string): string {
  const [, command] = /^ {2}alias interlock='(.*)'$/m.exec(screen) ?? [];
  if (!command) throw new Error(`no alias in:\n${screen}`);
  return `interlock() { ${command} "$@"; }`;
}
