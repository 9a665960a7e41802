import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import pg from "pg";
import { dieWithUs, end, hasEnded } from "./child.ts";
import { freePort } from "./free-port.ts";

export interface PostgresService extends AsyncDisposable {
  /** With a password in it, which must never be seen anywhere. */
  readonly url: string;
  readonly password: string;
  /** One statement by itself, for looking and meddling from outside. */
  query(sql: string): Promise<readonly Record<string, unknown>[]>;
  /** Makes a new, empty database, and gives its URL. */
  newDatabase(): Promise<string>;
  /** Ends it at once, as a power cut would. */
  kill(): Promise<void>;
  /** Runs it again on the same port, with what it had written. */
  start(): Promise<void>;
  /** SIGSTOP to all of its processes: connections stay open without a response. */
  pause(): void;
  resume(): void;
  /** Ends it and removes what it wrote. */
  stop(): Promise<void>;
}

const password = "pa55-of-the-tests";

/** PostgreSQL refuses to run as root; any other user will do. */
const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** A real PostgreSQL on a free loopback port. Stop it, or it outlives the tests. */
export async function startPostgres(): Promise<PostgresService> {
  const directory = await mkdtemp(join(tmpdir(), "interlock-postgres-"));
  await chmod(directory, 0o700);
  if (asNobody.uid !== undefined) await chown(directory, asNobody.uid, asNobody.gid);
  const data = join(directory, "data");
  const port = await freePort();
  const url = urlOf(port, "postgres");
  await makeCluster(directory, data);
  let server = await launch();
  let databases = 0;

  async function launch(): Promise<ChildProcess> {
    const options = ["-D", data, "-p", `${port}`, "-k", directory, "-h", "127.0.0.1"];
    const child = spawn(program("postgres"), options, {
      ...asNobody,
      cwd: directory,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let log = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
    dieWithUs(child, "SIGQUIT");
    for (let tries = 0; tries < 400; tries++) {
      if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}:\n${log}`);
      if (await answers(url)) return child;
      await wait(25);
    }
    throw new Error(`postgres was not ready within 10 s:\n${log}`);
  }

  async function kill() {
    if (hasEnded(server)) return;
    signalAll("SIGCONT");
    await end(server, "SIGQUIT");
  }

  function signalAll(signal: NodeJS.Signals) {
    const pid = server.pid as number;
    for (const one of [pid, ...childrenOf(pid)]) {
      try {
        process.kill(one, signal);
      } catch {
        // It has just ended.
      }
    }
  }

  async function stop() {
    await kill();
    await rm(directory, { recursive: true, force: true });
  }

  return {
    url,
    password,
    query: (sql) => query(url, sql),
    async newDatabase() {
      const name = `ledger_${++databases}`;
      await query(url, `CREATE DATABASE ${name}`);
      return urlOf(port, name);
    },
    kill,
    async start() {
      server = await launch();
    },
    pause: () => signalAll("SIGSTOP"),
    resume: () => signalAll("SIGCONT"),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** One statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 10_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function urlOf(port: number, database: string): string {
  return `postgres://interlock:${password}@127.0.0.1:${port}/${database}`;
}

async function answers(url: string): Promise<boolean> {
  return query(url, "SELECT 1").then(
    () => true,
    () => false,
  );
}

async function makeCluster(directory: string, data: string) {
  const secret = join(directory, "password");
  const write = `umask 077; printf %s '${password}' > ${secret}`;
  const make = `${program("initdb")} -D ${data} -U interlock -A scram-sha-256 --pwfile=${secret} -E UTF8 --no-locale -N`;
  const child = spawn("sh", ["-c", `${write} && ${make}`], {
    ...asNobody,
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`initdb ended with ${code} as ${userInfo().username}:\n${complaint}`);
}

/** Debian keeps them out of the way, one folder per version. */
function program(name: string): string {
  const home = "/usr/lib/postgresql";
  const versions = existsSync(home) ? readdirSync(home).sort((one, other) => Number(other) - Number(one)) : [];
  const found = versions.map((version) => join(home, version, "bin", name)).find((file) => existsSync(file));
  return found ?? name;
}

function childrenOf(pid: number): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((candidate) => parentOf(candidate) === pid);
}

function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}
