import { readFile } from "node:fs/promises";
import { fromKubeconfig, httpClient } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import type { Behaviours } from "./controllers-process.ts";
import { jobController } from "./job-controller.ts";
import { tektonController } from "./tekton-controller.ts";

// controllers-worker.ts KUBECONFIG BEHAVIOURS: both doubles over HTTP, until stopped.
const [kubeconfig = "", behaviours = ""] = process.argv.slice(2);
const clock = systemClock();
const random = systemRandom();
const client = httpClient({ connection: await fromKubeconfig({ path: kubeconfig, env: process.env }), clock, random });
const { bundles, images } = JSON.parse(await readFile(behaviours, "utf8")) as Behaviours;
const doubles = [
  tektonController({ client, clock, random, bundles }),
  jobController({ client, clock, random, images }),
];

process.once("SIGTERM", async () => {
  await Promise.all(doubles.map((double) => double.stop()));
  process.exit(0);
});
console.log("ready");
