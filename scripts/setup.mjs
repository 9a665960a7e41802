/**
 * Installs dependencies and builds the program, each only when it is missing or stale. Plain JavaScript, because it runs
 * before anything is installed.
 */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The program, once `ensureBuilt` has returned. */
export const program = join(root, "dist", "interlock.mjs");

/** Ends this process with the version of Node to install, if this one is too old. */
export function requireNode() {
  const { engines } = readJson("package.json");
  const [major, minor] = /(\d+)\.(\d+)/.exec(engines.node).slice(1).map(Number);
  const [ourMajor, ourMinor] = process.versions.node.split(".").map(Number);
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return;
  fail(`Node ${process.versions.node} is too old; install Node ${major}.${minor} or newer`);
}

export async function ensureInstalled() {
  if (isInstalled()) return;
  const flags = ["install", "--include=dev", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env["npm_execpath"];
  await run(npm ? [process.execPath, npm, ...flags] : ["npm", ...flags], {
    purpose: "Installing dependencies; this happens once.",
    failure: "npm install failed; fix the problem that npm reports above, then start again",
  });
}

/** Builds the program and, `withTypes`, also the declarations of the library. */
export async function ensureBuilt({ withTypes }) {
  const options = { stamp: sourceStamp(), commit: readCommit(), withTypes };
  const built = readBuilt();
  const isCurrent = built.stamp === options.stamp && built.commit === options.commit;
  if (isCurrent && (built.withTypes || !withTypes)) return;
  const script = join(root, "scripts", "build.ts");
  await run([process.execPath, "--import", "tsx", script, JSON.stringify(options)], {
    purpose: "Building; this happens once after each change of the sources.",
    failure: "the build failed; run npm run check to see what is wrong with the sources",
  });
}

/** Compares what npm installed with the lock file. npm writes its record last, so an interrupted install is no match. */
function isInstalled() {
  const locked = packagesIn("package-lock.json");
  const installed = packagesIn("node_modules/.package-lock.json");
  return Object.entries(locked).every(([path, { version, optional }]) => {
    return path === "" || optional || installed[path]?.version === version;
  });
}

function packagesIn(file) {
  try {
    return readJson(file).packages;
  } catch {
    return {};
  }
}

/** Changes with every source file, script and dependency that the build is made from. */
function sourceStamp() {
  const files = ["src", "scripts", "web"]
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((file) => join(folder, file)))
    .filter((file) => /\.(ts|tsx|mjs|css|html|svg)$/.test(file) && !file.endsWith(".test.ts"));
  const states = [...files, "package.json", "package-lock.json"].map((file) => {
    const { mtimeMs, size } = statSync(join(root, file));
    return `${file} ${mtimeMs} ${size}`;
  });
  return createHash("sha256").update(states.sort().join("\n")).digest("hex");
}

/** The commit of the sources, with `-dirty` if they differ from it. Empty if the sources are in no repository. */
function readCommit() {
  if (process.env["INTERLOCK_COMMIT"]) return process.env["INTERLOCK_COMMIT"];
  try {
    if (git("rev-parse", "--show-prefix").trim() !== "") return "";
    return git("describe", "--always", "--exclude=*", "--abbrev=12", "--dirty").trim();
  } catch {
    return "";
  }
}

function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
}

/** The build writes this file last. */
function readBuilt() {
  try {
    return readJson("dist/build.json");
  } catch {
    return {};
  }
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), "utf8"));
}

/** Runs a command, with its output on our standard error. A signal to us ends the command, then us. */
function run([command, ...args], { purpose, failure }) {
  return new Promise((resolve) => {
    let child;
    let stopped = false;
    const stop = (signal) => {
      stopped = true;
      child.kill(signal);
    };
    // Before the command exists, so that no signal can end us and leave the command behind.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
    const env = { ...process.env, INTERLOCK_PREPARE: "no" };
    child = spawn(command, args, { cwd: root, env, stdio: ["ignore", 2, 2] });
    console.error(purpose);
    child.once("error", (error) => fail(`${failure} (${error.message})`));
    child.once("exit", (code) => {
      if (stopped) process.exit(1);
      if (code !== 0) fail(failure);
      for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, stop);
      resolve();
    });
  });
}

function fail(problem) {
  console.error(`error: ${problem}`);
  process.exit(1);
}
