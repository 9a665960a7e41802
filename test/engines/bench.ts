import type { Deed, EngineBench } from "../../src/engines/engine.contract.ts";
import type { Engine, RunOrder } from "../../src/engines/index.ts";
import { type KubeClient, nameHash } from "../../src/kube/index.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import type { Behaviour } from "../doubles/behaviour.ts";
import type { DoubleOptions, RunningDouble } from "../doubles/run-controller.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { runOrder } from "./run-order.ts";
import { newWitness } from "./witness.ts";

export interface BenchParts {
  readonly engine: (client: KubeClient) => Engine;
  /** What carries runs out, given what each image does. */
  readonly double: (options: DoubleOptions, images: Readonly<Record<string, Behaviour>>) => RunningDouble;
}

/** An engine on an API server in memory, with the double that carries out its runs. */
export async function openBench({ engine, double }: BenchParts): Promise<EngineBench> {
  const clock = systemClock();
  const random = systemRandom();
  const namespace = "kubernaut-workflows";
  const client = testCluster({ clock, random, namespaces: [namespace] }).client();
  const witness = newWitness();
  const images = Object.fromEntries(
    (["succeed", "fail", "hang"] as const).map((deed) => [
      imageOf(deed),
      { do: "command", argv: witness.command(deed) } as const,
    ]),
  );
  const problems: string[] = [];
  const running = double({ client, clock, random, namespace, problem: (message) => problems.push(message) }, images);
  let count = 0;
  return {
    engine: engine(client),
    client,
    order: (deed, special = {}) => orderFor(imageOf(deed), ++count, special),
    witnessed: () => witness.read(),
    async close() {
      await running.stop();
      witness.remove();
      if (problems.length > 0) throw new Error(`the double had problems: ${problems.join("\n")}`);
    },
  };
}

/** The `count`-th order of a bench, with a target and an execution of its own. */
export function orderFor(containerImage: string, count: number, special: Partial<RunOrder>): RunOrder {
  const target = `payment/deployment/api-${count}`;
  return runOrder({
    ...{ name: `wfe-${count}`, target, targetHash: nameHash(target), fence: `${4_700 + count}` },
    execution: { uid: `execution-${count}`, name: `execution-${count}`, namespace: "payment" },
    workflow: { ...runOrder().workflow, containerImage },
    ...special,
  });
}

function imageOf(deed: Deed): string {
  return `registry.example/${deed}:1`;
}
