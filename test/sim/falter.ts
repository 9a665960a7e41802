import type { TestCluster } from "../doubles/test-cluster.ts";
import type { Network } from "./network.ts";
import type { World } from "./world.ts";

/** A fault of an API server itself, which loses nothing. */
export function falter(world: World, cluster: TestCluster, network: Network): void {
  const { chance } = world;
  switch (chance.whole(0, 3)) {
    case 0:
      world.struck("watches dropped");
      return cluster.dropWatches();
    case 1:
      world.struck("history compacted");
      return cluster.compact();
    case 2:
      world.struck("store silent");
      return network.silence(chance.between(100, 6_000));
    default:
      world.struck("store restart, data kept");
      network.silence(chance.between(10, 1_000));
      cluster.dropWatches();
  }
}
