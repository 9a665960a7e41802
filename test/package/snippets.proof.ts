import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ApiServer, startApiServer } from "../services/api-server.ts";
import { type RedisService, startRedis } from "../services/redis.ts";
import { root } from "../services/working-tree.ts";
import { Tarball } from "./tarball.ts";

const exec = promisify(execFile);

interface Snippet {
  /** Such as `docs/coordination.md:7`. */
  readonly place: string;
  /** Its name in the project, without an extension. */
  readonly file: string;
  readonly code: string;
}

/** docs/house-style.md shows how our own code is written, not how the package is used. */
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((file) => `docs/${file}`)].filter(
  (path) => path.endsWith(".md") && path !== "docs/house-style.md",
);
const snippets = pages.flatMap(snippetsOf);

describe("a TypeScript snippet of README or docs", { timeout: 300_000 }, () => {
  let tarball: Tarball;
  let redis: RedisService;
  let server: ApiServer;
  let project: string;
  let typeProblems: readonly string[];
  beforeAll(async () => {
    // A server that keeps everything has nothing to wait for after its start.
    [tarball, redis, server] = await Promise.all([
      Tarball.pack(),
      startRedis({ persistence: "always" }),
      startApiServer(),
    ]);
    project = await projectWith(tarball);
    for (const { file, code } of snippets) {
      writeFileSync(join(project, `${file}.mts`), code.replaceAll("redis://127.0.0.1:6379", redis.url));
    }
    typeProblems = await compile(project);
  }, 300_000);
  afterAll(async () => {
    tarball.remove();
    await redis.stop();
    await server.stop();
  });

  it("exists", () => {
    expect(snippets.map(({ place }) => place.replace(/:.*/, ""))).toEqual(
      expect.arrayContaining(["README.md", "docs/coordination.md"]),
    );
  });

  it.each(snippets)("$place type-checks and runs in a project that installed the tarball", async ({ file }) => {
    expect(typeProblems.filter((line) => line.startsWith(`${file}.mts`))).toEqual([]);

    const env = { PATH: process.env["PATH"], KUBECONFIG: server.kubeconfigFile };
    await exec(process.execPath, [join(project, "out", `${file}.mjs`)], { cwd: project, env, timeout: 60_000 });
  });
});

function snippetsOf(path: string): readonly Snippet[] {
  const text = readFileSync(join(root, path), "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(({ index, 1: code = "" }) => {
    const place = `${path}:${text.slice(0, index).split("\n").length}`;
    return { place, file: place.replace(/\W/g, "-"), code };
  });
}

/** Compiles everything, and returns the problems, one per line. A problem of the package itself is thrown. */
async function compile(project: string): Promise<readonly string[]> {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await exec(process.execPath, [tsc, "-p", project], { cwd: project }).catch((failed) => failed);
  const lines = String(stdout).split("\n").filter(Boolean);
  const foreign = lines.filter((line) => !snippets.some(({ file }) => line.startsWith(file)));
  if (foreign.length > 0) throw new Error(foreign.join("\n"));
  return lines;
}

/** A strict project of a user, with the package and the types of Node, and without anything else of ours. */
async function projectWith(tarball: Tarball): Promise<string> {
  const project = join(tarball.directory, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "project", private: true, type: "module" }));
  await exec("npm", ["install", "--silent", tarball.file], { cwd: project, env: tarball.freshEnv() });
  symlinkSync(join(root, "node_modules/@types"), join(project, "node_modules/@types"));
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    module: "nodenext",
    target: "es2022",
    lib: ["es2023", "esnext.disposable"],
    types: ["node"],
    outDir: "out",
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.mts"] }));
  return project;
}
