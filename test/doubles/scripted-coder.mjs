import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

// A coder that does what a script says, good or bad. Its request comes on standard input; the script is the file
// named by its argument, or the JSON in CODER_SCRIPT. `scripted-coder.ts` says what a script looks like.

const request = JSON.parse(readFileSync(0, "utf8"));
const answer = request.kind === "review" ? { summary: "Looked at it.", findings: [] } : { summary: "Done." };
let hasSpoken = false;

async function main() {
  await perform(stepsFor(readScript()));
  if (!hasSpoken) say(JSON.stringify(answer));
}

function readScript() {
  const [, , file] = process.argv;
  return JSON.parse(file ? readFileSync(file, "utf8") : (process.env.CODER_SCRIPT ?? '{"cases":[]}'));
}

/** Of the first case that fits the request. */
function stepsFor({ cases }) {
  const text = JSON.stringify(request);
  const fits = ({ kind, matches }) =>
    (kind === undefined || kind === request.kind) && (matches === undefined || new RegExp(matches).test(text));
  return cases.find(fits)?.steps ?? [];
}

async function perform(steps) {
  for (const step of steps) await actions[step.do](step);
}

const actions = {
  write: ({ path, text }) => write(path, text),
  append: ({ path, text }) => write(path, (existsSync(path) ? readFileSync(path, "utf8") : "") + text),
  replace: ({ path, from, to }) => write(path, readFileSync(path, "utf8").replaceAll(from, to)),
  rename: ({ from, to }) => {
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  },
  delete: ({ path }) => rmSync(path, { recursive: true }),
  symlink: ({ path, to }) => symlinkSync(to, path),
  chmod: ({ path, mode }) => chmodSync(path, Number.parseInt(mode, 8)),
  "write-random": ({ path, bytes }) => write(path, randomLines(bytes)),
  commit: ({ message }) => {
    git("add", "--all");
    git(
      "-c",
      "user.name=Agent",
      "-c",
      "user.email=agent@example.com",
      "commit",
      "--quiet",
      "--allow-empty",
      "-m",
      message,
    );
  },
  hook: ({ name, text }) => {
    write(join(".git/hooks", name), text);
    chmodSync(join(".git/hooks", name), 0o755);
  },
  "git-config": ({ name, value }) => git("config", name, value),
  "look-for-secrets": ({ pattern }) => {
    const found = everythingInReach().match(new RegExp(pattern, "g")) ?? [];
    answer.summary = `Found: ${[...new Set(found)].join(" ")}`;
  },
  echo: ({ file }) => {
    const { uid, gid } = { uid: process.getuid?.(), gid: process.getgid?.() };
    const facts = { request, cwd: process.cwd(), pid: process.pid, uid, gid, env: process.env, argv: process.argv };
    appendFileSync(file, `${JSON.stringify(facts)}\n`);
  },
  sleep: ({ ms, witness }) => between(witness, () => sleep(ms)),
  "wait-for-file": ({ path, witness }) =>
    between(witness, async () => {
      while (!existsSync(path)) await sleep(5);
    }),
  hang: async ({ ignoresSignals }) => {
    if (ignoresSignals) for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
    await new Promise(() => setInterval(() => {}, 60_000));
  },
  fork: ({ pids, ms, ignoresSignals, detached, holdsOutput }) => {
    const ignore = ignoresSignals ? "process.on('SIGTERM', () => {}); process.on('SIGHUP', () => {});" : "";
    const stdio = holdsOutput ? ["ignore", "inherit", "inherit"] : "ignore";
    const child = spawn(process.execPath, ["-e", `${ignore} setTimeout(() => {}, ${ms})`], { detached, stdio });
    appendFileSync(pids, `${child.pid}\n`);
    child.unref();
  },
  memory: ({ bytes }) => {
    actions.kept = Buffer.alloc(bytes, 1);
  },
  say: ({ text }) => say(text),
  complain: ({ text }) => process.stderr.write(text),
  flood: ({ bytes, to }) => flood(to === "stderr" ? process.stderr : process.stdout, bytes),
  answer: ({ value }) => Object.assign(answer, value),
  exit: ({ code }) => process.exit(code),
  kill: ({ signal }) => process.kill(process.pid, signal),
  // The first runs do one thing, later ones another: what fails at first, and not when tried again.
  times: async ({ counter, first, steps, otherwise }) => {
    appendFileSync(counter, "x");
    await perform(readFileSync(counter, "utf8").length <= first ? steps : otherwise);
  },
};

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function git(...args) {
  execFileSync("git", args, { stdio: "ignore" });
}

function say(text) {
  hasSpoken = true;
  process.stdout.write(text);
}

async function between(witness, wait) {
  note(witness, "begin");
  await wait();
  note(witness, "end");
}

/** With a time that all processes of a machine share, and that no clock change moves. */
function note(witness, event) {
  if (!witness) return;
  const { kind, mergeRequest, issue } = request;
  const about = { kind, branch: mergeRequest?.sourceBranch, issue: issue?.key, instruction: request.instruction };
  const line = { event, atNs: String(process.hrtime.bigint()), pid: process.pid, ...about };
  appendFileSync(witness, `${JSON.stringify(line)}\n`);
}

function randomLines(bytes) {
  let seed = 1;
  let text = "";
  while (text.length < bytes) {
    seed = (seed * 48_271) % 2_147_483_647;
    text += `${seed.toString(36)}${(seed * 7).toString(36)}\n`;
  }
  return text.slice(0, bytes);
}

async function flood(stream, bytes) {
  const chunk = "x".repeat(65_535);
  for (let left = bytes; left > 0; left -= chunk.length) {
    if (!stream.write(`${chunk.slice(0, left)}\n`)) await new Promise((resolve) => stream.once("drain", resolve));
  }
}

/** What an agent that was talked into it would send home. */
function everythingInReach() {
  const found = [JSON.stringify(process.env)];
  const files = [".git/config", ".git/FETCH_HEAD", ".git-credentials", ".netrc", ".gitconfig"];
  for (const file of [...files, ...files.map((name) => join(homedir(), name))]) found.push(textAt(file));
  found.push(textAt(`/proc/${process.ppid}/environ`));
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
    found.push(textAt(`/proc/${pid}/cmdline`));
  for (const folder of ["..", "../.."]) found.push(namesIn(folder));
  return found.join("\n").replaceAll("\0", " ");
}

function textAt(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function namesIn(folder) {
  try {
    return readdirSync(folder).join(" ");
  } catch {
    return "";
  }
}

// Last, because it needs everything above.
await main();
