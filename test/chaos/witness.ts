import { createServer, connect as dial, type Socket } from "node:net";
import { type Journal, monotonicMs } from "./history.ts";

/** What a holder sends to the resource. */
export type Deed = { readonly worker: string; readonly lease: string; readonly key: string; readonly fence: string };

/** The resource under the locks: it knows nothing of them, refuses fences smaller than one it has seen, and remembers. */
export interface Witness {
  readonly port: number;
  /** The worker that acted on `key` in the last `withinMs`. */
  holderOf(key: string, withinMs: number): string | undefined;
  /** The lease under which `key` was last acted on. */
  leaseOf(key: string): string | undefined;
  /** When an effect of `worker` was last accepted; 0 if never. */
  lastSeen(worker: string): number;
  close(): Promise<void>;
}

export async function startWitness(journal: Journal): Promise<Witness> {
  const largest = new Map<string, bigint>();
  const latest = new Map<string, { worker: string; lease: string; at: number }>();
  const seen = new Map<string, number>();

  function judge(deed: Deed): boolean {
    const { key, worker, lease } = deed;
    const at = monotonicMs();
    const fence = BigInt(deed.fence);
    const accepted = fence >= (largest.get(key) ?? 0n);
    if (accepted) {
      largest.set(key, fence);
      latest.set(key, { worker, lease, at });
      seen.set(worker, at);
    }
    journal.write({ at, event: "effect", ...deed, accepted });
    return accepted;
  }

  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    onLines(socket, (line) => socket.write(judge(JSON.parse(line)) ? "accepted\n" : "refused\n"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  return {
    port: (server.address() as { port: number }).port,
    holderOf(key, withinMs) {
      const last = latest.get(key);
      return last && monotonicMs() - last.at <= withinMs ? last.worker : undefined;
    },
    leaseOf: (key) => latest.get(key)?.lease,
    lastSeen: (worker) => seen.get(worker) ?? 0,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A holder's way to the resource. */
export interface WitnessClient {
  /** Sends `deed` before it returns, so that nothing can come between a check and what it allows. */
  act(deed: Deed): Promise<"accepted" | "refused">;
  /** Resolves when the resource is gone. */
  readonly gone: Promise<void>;
  close(): void;
}

export async function dialWitness(port: number): Promise<WitnessClient> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const dialled = dial({ port, host: "127.0.0.1", noDelay: true }, () => resolve(dialled));
    dialled.once("error", reject);
  });
  const answers: ((answer: "accepted" | "refused") => void)[] = [];
  onLines(socket, (line) => answers.shift()?.(line === "accepted" ? "accepted" : "refused"));
  return {
    act(deed) {
      socket.write(`${JSON.stringify(deed)}\n`);
      return new Promise((resolve) => answers.push(resolve));
    },
    gone: new Promise((resolve) => socket.once("close", () => resolve())),
    close: () => socket.end(),
  };
}

function onLines(socket: Socket, take: (line: string) => void) {
  let rest = "";
  socket.setEncoding("utf8").on("data", (text) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}
