import { createServer } from "node:net";

/** Below the ports that the system gives to outgoing connections: one of those could take ours while we are down. */
export async function freePort(): Promise<number> {
  while (true) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
