import { setTimeout as wait } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { type RedisService, startRedis } from "./redis.ts";

export interface RedisCluster extends AsyncDisposable {
  readonly url: string;
  readonly nodes: readonly RedisService[];
}

const slots = 16_384;

/** Three nodes, each with a third of the slots. */
export async function startCluster(): Promise<RedisCluster> {
  const buses = [await freePort(), await freePort(), await freePort()];
  const nodes = await Promise.all(
    buses.map((bus) => startRedis({ args: ["--cluster-enabled", "yes", "--cluster-port", `${bus}`] })),
  );
  for (const [i, node] of nodes.entries()) {
    const [from, to] = [Math.floor((slots * i) / 3), Math.floor((slots * (i + 1)) / 3) - 1];
    await node.command("CLUSTER", "ADDSLOTSRANGE", `${from}`, `${to}`);
    if (i > 0) await nodes[0]?.command("CLUSTER", "MEET", "127.0.0.1", `${node.port}`, `${buses[i]}`);
  }
  for (const node of nodes) await untilWhole(node);
  return {
    url: `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    nodes,
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function untilWhole(node: RedisService): Promise<void> {
  while (true) {
    const info = String(await node.command("CLUSTER", "INFO"));
    if (info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3")) return;
    await wait(25);
  }
}
