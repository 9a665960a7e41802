import { execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dieWithUs, end, waitForOutput } from "../services/child.ts";
import { root } from "../services/working-tree.ts";
import { Tarball } from "./tarball.ts";

const exec = promisify(execFile);
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const commit = "0123456789ab";

// No registry is reached: the base image is this machine's Node and flock with their libraries, without a shell, other tools or
// users. What Debian's tools do in the Dockerfile, which are the steps RUN, is left out.
describe("the image", { timeout: 120_000 }, () => {
  let tarball: Tarball;
  let folder: string;
  let rootfs: string;

  beforeAll(async () => {
    tarball = await Tarball.pack({ commit });
    folder = join(tarball.directory, "image");
    mkdirSync(join(folder, "context/package"), { recursive: true });
    await exec("tar", ["-xzf", tarball.file, "--strip-components=1", "-C", join(folder, "context/package")]);
    await buildBase("localhost/base");
    writeFileSync(join(folder, "Containerfile"), finalStage("localhost/base"));
    const args = ["--build-arg", `COMMIT=${commit}`, "--file", join(folder, "Containerfile")];
    await buildah("build", "--isolation", "chroot", ...args, "--tag", "localhost/interlock", join(folder, "context"));
    await buildah("from", "--name", "interlock", "localhost/interlock");
    rootfs = await buildah("mount", "interlock");
  }, 300_000);
  afterAll(async () => {
    await buildah("rm", "--all");
    tarball.remove();
  });

  it("starts as an unprivileged user, and is labelled with version, commit and licence", async () => {
    const { OCIv1 } = JSON.parse(await buildah("inspect", "--type", "image", "localhost/interlock"));
    const { config } = OCIv1;

    expect(config).toMatchObject({ User: "1000:1000", WorkingDir: "/app", Volumes: { "/data": {} }, Cmd: ["help"] });
    expect(config.Labels).toMatchObject({
      "org.opencontainers.image.title": "Interlock",
      "org.opencontainers.image.licenses": "Apache-2.0",
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.revision": commit,
    });
  });

  it("has the package and its bill of materials", () => {
    const { bomFormat } = JSON.parse(readFileSync(join(rootfs, "app/dist/sbom.cdx.json"), "utf8"));

    expect(bomFormat).toBe("CycloneDX");
    expect(
      execFileSync("ls", [join(rootfs, "app")], { encoding: "utf8" })
        .trim()
        .split("\n"),
    ).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "dist",
      "docs",
      "examples",
      "package.json",
      "rules",
      "workflows",
    ]);
  });

  it("runs on a read-only root as a user that it does not know, with only /data to write to", async () => {
    const data = join(folder, "data");
    mkdirSync(data, { mode: 0o777 });
    // Root in a mount namespace of its own does what a container runtime does.
    const prepare = [
      `chmod 777 '${data}'`,
      `mount --bind '${rootfs}' '${rootfs}'`,
      `mount -o remount,ro,bind '${rootfs}'`,
      `mount --bind '${data}' '${rootfs}/data'`,
      `mount --bind /dev '${rootfs}/dev'`,
    ];
    const command = ["/usr/bin/node", "/app/dist/interlock.mjs", "api", "--data", "/data", "--listen", "127.0.0.1:0"];
    const script = `${prepare.join(" && ")} && exec chroot --userspec=1000:1000 '${rootfs}' "$@"`;

    const api = spawn("unshare", ["--mount", "sh", "-c", script, "sh", ...command], {
      env: { PATH: process.env["PATH"] },
      stdio: ["ignore", "pipe", "inherit"],
    });
    dieWithUs(api);
    const { input } = await waitForOutput(api, /https:\/\/127\.0\.0\.1:\d+/);

    expect(input).toContain("https://127.0.0.1:");
    expect(readFileSync(join(data, "kubeconfig"), "utf8")).toContain("certificate-authority-data");
    await end(api, "SIGTERM");
  });

  /** buildah with a store of its own, which needs no right that root in a container lacks. */
  async function buildah(...args: readonly string[]): Promise<string> {
    const store = ["--root", join(folder, "store"), "--runroot", join(folder, "run"), "--storage-driver", "vfs"];
    return (await exec("buildah", [...store, ...args], { maxBuffer: 64 * 1_024 * 1_024 })).stdout.trim();
  }

  async function buildBase(name: string): Promise<void> {
    const base = join(folder, "base");
    mkdirSync(join(base, "usr/bin"), { recursive: true });
    for (const mounted of ["data", "dev"]) mkdirSync(join(base, mounted));
    const programs = [process.execPath, "/usr/bin/flock"];
    const libraries = execFileSync("ldd", programs, { encoding: "utf8" }).matchAll(/(?:=>|^)\s+(\/\S+)/gm);
    await exec("cp", ["--parents", "--dereference", ...new Set([...libraries].map(([, file = ""]) => file)), base]);
    await exec("cp", ["--dereference", ...programs, join(base, "usr/bin")]);
    await buildah("from", "--name", "base", "scratch");
    await buildah("add", "base", base, "/");
    await buildah("config", "--env", "PATH=/usr/bin", "base");
    await buildah("commit", "--quiet", "base", name);
    rmSync(base, { recursive: true });
  }
});

/** The last stage of the Dockerfile, on another base image. */
function finalStage(base: string): string {
  const text = readFileSync(join(root, "Dockerfile"), "utf8").replaceAll("\\\n", " ");
  const lines = text.slice(text.lastIndexOf("\nFROM ") + 1).split("\n");
  return lines
    .filter((line) => !line.startsWith("RUN ") && !line.startsWith("#"))
    .map((line) => line.replace(/^FROM .*/, `FROM ${base}`).replace("COPY --from=build /package ./", "COPY package ./"))
    .join("\n");
}
