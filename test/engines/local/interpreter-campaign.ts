import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import { checkPipeline } from "../../../src/engines/local/pipeline/read-pipeline.ts";
import type { Step } from "../../../src/engines/local/pipeline/spec.ts";
import { scriptInterpreter } from "../../../src/engines/local/pipeline/spec.ts";
import { expand, expandList } from "../../../src/engines/local/schedule/values.ts";

const x = "$(params.x)";
const list = "$(params.l[*])";
/** Stands for a file with harmless code in it. */
const harmlessFile = "./harmless";

/** What the arguments of a program are made of: its options in all spellings, and harmless code. */
const interpreterWords: Readonly<Record<string, readonly string[]>> = {
  ...same(
    ["sh", "dash", "bash", "ash", "ksh", "mksh", "zsh", "fish", "rbash"],
    [
      ...["-c", "-e", "-ce", "-ec", "+ec", "-x", "-u", "+e", "-o", "errexit", "-euo", "pipefail", "--norc", "--posix"],
      ...["-s", "-l", "-O", "extglob", `-c${x}`, `-o${x}`, "--rcfile", `--rcfile=${x}`, "--init-file", "true", ":"],
    ],
  ),
  ...same(
    ["python", "python3", "python3.11", "python3.12", "python3.13"],
    [
      ...["-c", "-I", "-Ic", "-u", "-m", "-X", "utf8", "-W", "ignore", `-c${x}`, "-E", "-S", "timeit", `-m${x}`, "-x"],
      ...["pass", "import sys"],
    ],
  ),
  ...same(
    ["node", "nodejs"],
    [
      ...["-e", "-p", "-pe", "--eval", "--print", `--eval=${x}`, `--print=${x}`, "-r", `--require=${x}`, "--import"],
      ...[`--import=${x}`, "--no-warnings", "-c", "--check", "inspect", "--input-type=module", "1", "process.argv"],
    ],
  ),
  perl: [
    ...["-e", "-E", "-we", "-n", "-p", "-ne", "-lane", "-w", "-s", `-M${x}`, `-e${x}`, `-I${x}`, "-x", "-T", "-0777"],
    ...["-F:", `-d:${x}`, "1;", "print $ARGV[0]", "print while <>"],
  ],
  ruby: ["-e", "-n", "-p", "-ne", "-w", "-r", `-r${x}`, `-e${x}`, "-s", "-x", "1"],
  php: ["-r", "-f", "-d", "a=b", `-d${x}`, `-r${x}`, "-n", "1;"],
  ...same(["lua", "lua5.3", "lua5.4", "luajit"], ["-e", "-l", `-e${x}`, "-i", "return 1"]),
  tclsh: ["-encoding", "utf-8"],
  ...same(
    ["awk", "gawk", "mawk", "nawk"],
    ["-F:", "-f", "-v", "a=1", `a=${x}`, "-e", `-e${x}`, `-f${x}`, `--source=${x}`, "{ print }", "BEGIN { print }"],
  ),
  ...same(
    ["sed", "gsed"],
    ["-n", "-e", "-f", "-E", "-s", "--expression=p", `--expression=${x}`, `-e${x}`, `-f${x}`, "--sandbox", "p", "1d"],
  ),
  find: [
    ...[".", "-name", "-exec", "echo", "{}", ";", "+", "-newer", "-type", "f", "-maxdepth", "1", "-print", "-ok"],
    ...["-fprint", "!"],
  ],
  ...same(["echo", "printf", "cat", "grep", "ls", "test"], ["-n", "-e", "a"]),
  // Programs for which nothing but literals is accepted.
  ...same(
    ["sqlite3", "psql", "vim", "ex", "ed", "make", "gdb", "jq", "bc"],
    ["-c", "-e", "-x", "-s", ":memory:", "-n"],
  ),
};

const wrapperWords: Readonly<Record<string, readonly string[]>> = {
  env: [
    ...["-i", "-u", "A", "-S", "sh -c", "sh", "A=b", `A=${x}`, `BASH_ENV=${x}`, `PATH=${x}`, `-S${x}`, "-C", ".", "-"],
    ...[`--split-string=${x}`, "-v", "--split-string=bash -ec"],
  ],
  timeout: ["-k", "1", "5", "--preserve-status", "-s", "TERM"],
  nice: ["-n", "5"],
  nohup: [],
  setsid: ["-w"],
  stdbuf: ["-o", "L"],
  xargs: ["-0", "-n", "1", "-r", "-I{}", "-a", "/dev/null"],
  flock: ["-n", "./lock", "-c", "-x", "--command"],
  ionice: ["-c", "3"],
  taskset: ["-c", "0"],
  busybox: [],
  time: ["-p"],
};

/** Programs of the lists above that this machine has. */
export const presentInterpreters: readonly string[] = Object.keys(interpreterWords).filter(isPresent);
const presentWrappers: readonly string[] = Object.keys(wrapperWords).filter(isPresent);

/** Where one execution takes place, and the file that no value may create. */
interface Place {
  readonly folder: string;
  readonly forbidden: string;
  readonly evil: string;
}

export type Hostile = (place: Place) => string | readonly string[];

/** Values that an alert label could have. Each creates the forbidden file where something runs it. */
const hostileValues: readonly Hostile[] = [
  ({ forbidden }) => `$(touch ${forbidden})`,
  ({ forbidden }) => `\`touch ${forbidden}\``,
  ({ forbidden }) => `; touch ${forbidden} #`,
  ({ forbidden }) => `'; touch ${forbidden}; '`,
  ({ forbidden }) => `"; touch ${forbidden}; "`,
  ({ forbidden }) => `a\ntouch ${forbidden}\n`,
  ({ forbidden }) => `touch ${forbidden}`,
  ({ forbidden }) => `touch ${forbidden}|`,
  ({ forbidden }) => `|touch ${forbidden}`,
  ({ forbidden }) => `-ctouch ${forbidden}`,
  ({ forbidden }) => `-c__import__('os').system('touch ${forbidden}')`,
  ({ forbidden }) => `__import__('os').system('touch ${forbidden}')`,
  ({ forbidden }) => `require('fs').writeFileSync('${forbidden}','')`,
  ({ forbidden }) => `--eval=require('fs').writeFileSync('${forbidden}','')`,
  ({ forbidden }) => `system('touch ${forbidden}')`,
  ({ forbidden }) => `-esystem('touch ${forbidden}')`,
  ({ forbidden }) => `esystem('touch ${forbidden}')`,
  ({ forbidden }) => `BEGIN{system("touch ${forbidden}")}`,
  ({ forbidden }) => `w${forbidden}`,
  ({ forbidden }) => `-ew${forbidden}`,
  ({ forbidden }) => `--expression=w${forbidden}`,
  ({ forbidden }) => `exec touch ${forbidden}`,
  ({ forbidden }) => `-Ssh -c "touch ${forbidden}"`,
  ({ evil }) => `${evil}/code`,
  ({ evil }) => `${evil}/code.cjs`,
  ({ evil }) => `--require=${evil}/code.cjs`,
  ({ evil }) => `-r${evil}/code.cjs`,
  ({ evil }) => `${evil}/code.py`,
  ({ evil }) => `${evil}/code.tcl`,
  ({ evil }) => `${evil}/code.awk`,
  ({ evil }) => `-f${evil}/code.awk`,
  ({ evil }) => `${evil}/bin`,
  ({ forbidden }) => ["-c", `touch ${forbidden}`],
  ({ forbidden }) => ["-e", `system('touch ${forbidden}')`],
  ({ forbidden }) => ["-exec", "touch", forbidden, ";"],
  ({ forbidden }) => ["touch", forbidden],
  ({ forbidden }) => ["-e", `require('fs').writeFileSync('${forbidden}','')`],
  () => [],
];

const variableNames = [
  "VALUE",
  "NODE_NAME",
  "BASH_ENV",
  "ENV",
  "PATH",
  "LD_PRELOAD",
  "PS4",
  "PYTHONSTARTUP",
  "PERL5OPT",
];

/** A step in any spelling, most of them nonsense. */
export const anyStep: fc.Arbitrary<Step> = fc
  .record({
    wrappers: fc.array(fc.constantFrom(...presentWrappers), { maxLength: 2 }),
    program: fc.constantFrom(...presentInterpreters),
    commandLength: fc.nat(6),
    isScript: fc.boolean(),
    variable: fc.option(fc.constantFrom(...variableNames), { freq: 4 }),
  })
  .chain(({ wrappers, program, commandLength, isScript, variable }) =>
    fc
      .record({
        before: fc.tuple(...wrappers.map((wrapper) => wordsFor(wrapperWords[wrapper] ?? [], 3))),
        own: wordsFor(interpreterWords[program] ?? [], 5),
        later: fc.array(fc.constantFrom(x, x, `-${x}`, `./${x}`, `a${x}`, list, "--", "name"), { maxLength: 3 }),
      })
      .map(({ before, own, later }): Step => {
        const env = variable ? { env: [{ name: variable, value: x }] } : {};
        if (isScript && wrappers.length === 0) {
          const option = own.find((word) => !word.includes("$("));
          return { script: `#!${pathOf(program)}${option ? ` ${option}` : ""}\n`, args: later, ...env };
        }
        const front = wrappers.flatMap((wrapper, index) => [wrapper, ...(before[index] ?? [])]);
        const argv = [...front, program, ...own, ...later];
        const split = Math.max(1, Math.min(commandLength, argv.length));
        return { command: argv.slice(0, split), args: argv.slice(split), ...env };
      }),
  );

export const anyHostileValue: fc.Arbitrary<Hostile> = fc.constantFrom(...hostileValues);

/** Words of a program in the order of a plausible command line: options, code or a file, and `--` here and there. */
function wordsFor(words: readonly string[], maxLength: number): fc.Arbitrary<readonly string[]> {
  return fc.array(fc.constantFrom(...words, ...words, harmlessFile, "--", x), { maxLength });
}

/** Whether a workflow with this step can be loaded. */
export function isAccepted(step: Step): boolean {
  const params = [{ name: "x" }, { name: "l", type: "array" }];
  const reading = checkPipeline({ params, tasks: [{ name: "only", taskSpec: { steps: [step] } }] });
  return reading.kind === "valid";
}

/** Runs a step as the engine does, with a value in place of its parameters. True if it created the forbidden file. */
export async function createsFile(step: Step, hostile: Hostile): Promise<boolean> {
  const place = newPlace();
  try {
    await execute(step, hostile(place), place);
    return existsSync(place.forbidden);
  } finally {
    rmSync(place.folder, { recursive: true, force: true });
  }
}

async function execute(step: Step, value: string | readonly string[], { folder }: Place): Promise<void> {
  const text = [value].flat().join(" ");
  const params = { x: text, l: [value].flat() };
  const values = { params, result: () => text, status: () => text, context: () => text, resultPath: () => text };
  const words = (texts: readonly string[]) => expandList(texts, values);
  const script = join(folder, "script");
  if (step.script !== undefined) writeFileSync(script, step.script);
  const start = step.script === undefined ? words(step.command ?? []) : [...scriptInterpreter(step.script), script];
  const own = (step.env ?? []).map(({ name, value: text = "" }) => [name, expand(text, values)] as const);
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder, ...Object.fromEntries(own) };
  const argv = ["--", ...start, ...words(step.args ?? [])];
  // No process can have a zero byte in its arguments, and an empty PATH would hide env itself.
  const child = spawn("/usr/bin/env", argv, { cwd: join(folder, "work"), env, stdio: "ignore", detached: true });
  await new Promise<void>((resolve) => {
    const end = () => {
      try {
        process.kill(-(child.pid ?? 0), "SIGKILL");
      } catch {
        // The whole group is gone.
      }
    };
    const limit = setTimeout(end, 5_000);
    child.once("error", () => resolve());
    child.once("close", () => {
      clearTimeout(limit);
      end();
      resolve();
    });
  });
}

function newPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "interlock-hostile-"));
  const place = { folder, forbidden: join(folder, "forbidden"), evil: join(folder, "evil") };
  const { forbidden, evil } = place;
  mkdirSync(join(folder, "work"));
  mkdirSync(join(evil, "bin"), { recursive: true });
  writeFileSync(join(folder, "work", "harmless"), "");
  const shell = `#!/bin/sh\n/usr/bin/touch ${forbidden}\n`;
  writeFileSync(join(evil, "code"), shell, { mode: 0o755 });
  writeFileSync(join(evil, "code.cjs"), `require('fs').writeFileSync('${forbidden}','')`);
  writeFileSync(join(evil, "code.py"), `open('${forbidden}','w')`);
  writeFileSync(join(evil, "code.tcl"), `exec touch ${forbidden}`);
  writeFileSync(join(evil, "code.awk"), `BEGIN { system("touch ${forbidden}") }`);
  for (const name of [...presentInterpreters, ...presentWrappers]) {
    writeFileSync(join(evil, "bin", name), shell, { mode: 0o755 });
  }
  return place;
}

function same(names: readonly string[], words: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(names.map((name) => [name, words]));
}

function isPresent(name: string): boolean {
  return pathOf(name) !== "";
}

function pathOf(name: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable) ?? "";
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
