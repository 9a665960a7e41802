import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Started } from "./start-worker.ts";

/** Opens the directory in a process of its own and looks at it. */
export async function start(directory: string): Promise<Started> {
  const child = fork(fileURLToPath(new URL("./start-worker.js", import.meta.url)), [directory]);
  const [started] = (await once(child, "message")) as [Started];
  await once(child, "exit");
  return started;
}
