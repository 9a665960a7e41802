/**
 * `npm start` and `npm run interlock`: installs dependencies and bundles the program when either is missing or stale,
 * then runs the bundle in this process. Plain JavaScript, because it runs before anything is installed.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const bundle = join(root, "dist", "interlock.mjs");

requireNode();
if (!isInstalled()) {
  const flags = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  const npm = process.env["npm_execpath"];
  await run(npm ? [process.execPath, npm, ...flags] : ["npm", ...flags], {
    purpose: "Installing dependencies; this happens once.",
    failure: "npm install failed; fix the problem that npm reports above, then start again",
  });
}
const stamp = sourceStamp();
if (!isBundled(stamp)) {
  const script = join(root, "scripts", "bundle.ts");
  await run([process.execPath, "--import", "tsx", script, bundle, stamp], {
    purpose: "Building; this happens once after each change of the sources.",
    failure: "the build failed; run npm run check to see what is wrong with the sources",
  });
}
// In this process, not in a child: a signal that npm forwards reaches the server itself.
await import(bundle);

function requireNode() {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [major, minor] = /(\d+)\.(\d+)/.exec(engines.node).slice(1).map(Number);
  const [ourMajor, ourMinor] = process.versions.node.split(".").map(Number);
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return;
  fail(`Node ${process.versions.node} is too old; install Node ${major}.${minor} or newer`);
}

/** Compares what npm installed with the lock file. npm writes its record last, so an interrupted install is no match. */
function isInstalled() {
  const locked = packagesIn(join(root, "package-lock.json"));
  const installed = packagesIn(join(root, "node_modules", ".package-lock.json"));
  return Object.entries(locked).every(([path, { version, optional }]) => {
    return path === "" || optional || installed[path]?.version === version;
  });
}

function packagesIn(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8")).packages;
  } catch {
    return {};
  }
}

/** Changes with every source file and dependency that the bundle is made from. */
function sourceStamp() {
  const files = readdirSync(join(root, "src"), { recursive: true })
    .map((file) => join("src", file))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  const newest = [...files, "package-lock.json", join("scripts", "bundle.ts")].map((file) => {
    const { mtimeMs, size } = statSync(join(root, file));
    return `${file} ${mtimeMs} ${size}`;
  });
  return createHash("sha256").update(newest.sort().join("\n")).digest("hex");
}

/** The bundle begins with the stamp of its sources. */
function isBundled(stamp) {
  const head = Buffer.alloc(200);
  try {
    const fd = openSync(bundle, "r");
    readSync(fd, head);
    closeSync(fd);
  } catch {
    return false;
  }
  return head.includes(stamp);
}

/** Runs a command, with its output on our standard error. A signal to us ends the command, then us. */
function run([program, ...args], { purpose, failure }) {
  return new Promise((resolve) => {
    let child;
    let stopped = false;
    const stop = (signal) => {
      stopped = true;
      child.kill(signal);
    };
    // Before the command exists, so that no signal can end us and leave the command behind.
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, stop);
    child = spawn(program, args, { cwd: root, stdio: ["ignore", 2, 2] });
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
