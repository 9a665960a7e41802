import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { dieWithUs, end } from "./child.ts";
import { freePort } from "./free-port.ts";

export interface RedisService extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** One command by itself, for looking from outside: `command("MEMORY", "USAGE", key)`. */
  command(...words: readonly string[]): Promise<unknown>;
  /** SIGKILL: it has no time to say or save anything. */
  kill(): Promise<void>;
  /** Runs it again on the same port. What it remembers is up to its persistence. */
  start(): Promise<void>;
  /** `kill`, then `start`. */
  restart(): Promise<void>;
  /** SIGSTOP: connections stay open without a response. */
  pause(): void;
  resume(): void;
  /** Ends it and removes what it wrote. */
  stop(): Promise<void>;
}

export interface RedisServiceOptions {
  /** `always` writes down every command before it answers; `everysec` within a second; `none`, the default, nothing. */
  readonly persistence?: "none" | "everysec" | "always";
  /** Further arguments, which win over ours. */
  readonly args?: readonly string[];
  /** Lines of a configuration file, which the server may write into. */
  readonly file?: readonly string[];
}

/** A real Redis on a free loopback port. Stop it, or it outlives the tests. */
export async function startRedis(options: RedisServiceOptions = {}): Promise<RedisService> {
  const { persistence = "none", args: further = [], file } = options;
  const dir = await mkdtemp(join(tmpdir(), "interlock-redis-"));
  const path = join(dir, "redis.conf");
  if (file) await writeFile(path, file.map((line) => `${line}\n`).join(""));
  const port = await freePort();
  const appends =
    persistence === "none" ? ["--appendonly", "no"] : ["--appendonly", "yes", "--appendfsync", persistence];
  const ours = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", dir, "--save", "", ...appends];
  const args = [...(file ? [path] : []), ...ours, ...further];
  let child = await launch(args, port);

  async function start() {
    child = await launch(args, port);
  }
  const kill = () => end(child, "SIGKILL");

  async function stop() {
    await kill();
    await rm(dir, { recursive: true, force: true });
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    get pid() {
      return child.pid as number;
    },
    command: (...words) => command(port, words),
    kill,
    start,
    async restart() {
      await kill();
      await start();
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function launch(args: readonly string[], port: number): Promise<ChildProcess> {
  const child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  let log = "";
  child.stdout.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const failed = new Promise<never>((_resolve, reject) => {
    child.once("error", (cause) =>
      reject(new Error("redis-server is missing: apt-get install redis-server", { cause })),
    );
    child.once("exit", (code) => reject(new Error(`redis-server ended with ${code}:\n${log}`)));
  });
  dieWithUs(child);
  // After it is ready no caller waits for this any more.
  failed.catch(() => {});
  await Promise.race([ready(port), failed]);
  return child;
}

async function ready(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await command(port, ["PING"]).catch(() => undefined);
    if (answer === "PONG") return;
    await wait(25);
  }
  throw new Error(`redis-server on port ${port} was not ready within 5 s`);
}

/** One request and its reply on a connection of its own. Knows simple strings, errors, numbers and bulk strings. */
function command(port: number, words: readonly string[]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: "127.0.0.1" });
    let received = "";
    socket.setTimeout(2_000, () => socket.destroy(new Error(`Redis did not answer ${words[0]} within 2 s`)));
    socket.on("connect", () => {
      const bulk = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("");
      socket.write(`*${words.length}\r\n${bulk}`);
    });
    socket.on("data", (chunk) => {
      received += chunk.toString();
      const reply = parsed(received);
      if (!reply) return;
      socket.destroy();
      if (reply.error !== undefined) reject(new Error(reply.error));
      else resolve(reply.value);
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("Redis closed the connection")));
  });
}

function parsed(text: string): { value?: unknown; error?: string } | undefined {
  const end = text.indexOf("\r\n");
  if (end < 0) return undefined;
  const line = text.slice(1, end);
  switch (text[0]) {
    case "+":
      return { value: line };
    case "-":
      return { error: line };
    case ":":
      return { value: Number(line) };
    case "$": {
      if (line === "-1") return { value: undefined };
      const body = text.slice(end + 2);
      return Buffer.byteLength(body) >= Number(line) + 2 ? { value: body.slice(0, -2) } : undefined;
    }
    default:
      return { error: `a reply this test client does not know: ${text}` };
  }
}
