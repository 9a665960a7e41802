import { connect } from "node:net";
import { machineMs } from "../locks/machine-time.ts";
import { quantile } from "../locks/quantile.ts";
import type { Created, CreateLoad, Load, Watched, WatchLoad } from "./load.ts";
import { RawConnection } from "./raw-connection.ts";
import { body, keyOf } from "./sample.ts";

process.on("message", async (load: Load) => {
  process.send?.(load.do === "create" ? await create(load) : await watch(load));
});

/** Creates `count` objects over `inFlight` connections, each with one request at a time. */
async function create({ port, token, from, count, inFlight }: CreateLoad): Promise<Created> {
  const connections = await Promise.all(Array.from({ length: inFlight }, () => RawConnection.open(port)));
  const requests = Array.from({ length: count }, (_, i) => requestOf(from + i, token));
  const latencies: number[] = [];
  let next = 0;
  const startedAt = machineMs();
  await Promise.all(
    connections.map(async (connection) => {
      for (let i = next++; i < count; i = next++) {
        const sentAt = machineMs();
        const status = await connection.send(requests[i] as string);
        if (status !== 201) throw new Error(`a create was answered with ${status}`);
        latencies.push(machineMs() - sentAt);
      }
    }),
  );
  const ms = machineMs() - startedAt;
  for (const connection of connections) connection.close();
  return { perSecond: (1_000 * count) / ms, p50Ms: quantile(latencies, 0.5) };
}

function requestOf(i: number, token: string): string {
  const text = body(i);
  const path = `/apis/kubernaut.ai/v1alpha1/namespaces/${keyOf(i).namespace}/workflowexecutions`;
  const headers = [
    "Host: 127.0.0.1",
    "Accept: application/json",
    "Content-Type: application/json",
    `Authorization: Bearer ${token}`,
    `Content-Length: ${text.length}`,
  ];
  return `POST ${path} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n${text}`;
}

/** Watches with many connections. Reports when all are open, and then when all have received everything. */
async function watch({ port, path, token, watchers, events }: WatchLoad): Promise<Watched> {
  const listeners = Array.from({ length: watchers }, () => listener(port, path, token, events));
  await Promise.all(listeners.map(({ open }) => open));
  process.send?.({ kind: "open" });
  await Promise.all(listeners.map(({ all }) => all));
  return { endedAt: machineMs() };
}

/** Events end in a bracket and a line break; nothing else on the wire does. */
function listener(port: number, path: string, token: string, events: number) {
  let count = 0;
  let last = 0;
  let isOpen = () => {};
  let isDone = () => {};
  const open = new Promise<void>((resolve) => (isOpen = resolve));
  const all = new Promise<void>((resolve) => (isDone = resolve));
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  });
  socket.on("data", (data: Buffer) => {
    isOpen();
    for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, at + 1)) {
      if ((at === 0 ? last : data[at - 1]) === 0x7d) count++;
    }
    last = data.at(-1) ?? 0;
    if (count < events) return;
    isDone();
    socket.destroy();
  });
  return { open, all };
}
