import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programEngine } from "../../examples/engine/program-engine.ts";
import { startProgramRunner } from "../../examples/engine/program-runner.ts";
import { engineContract } from "../../src/engines/engine.contract.ts";
import { systemClock, systemRandom } from "../../src/time/index.ts";
import { testCluster } from "../doubles/test-cluster.ts";
import { orderFor } from "../engines/bench.ts";
import { newWitness } from "../engines/witness.ts";

const namespace = "kubernaut-workflows";

engineContract("the example", async () => {
  const [clock, random] = [systemClock(), systemRandom()];
  const client = testCluster({ clock, random, namespaces: [namespace] }).client();
  const witness = newWitness();
  const folder = mkdtempSync(join(tmpdir(), "interlock-example-"));
  for (const deed of ["succeed", "fail", "hang"] as const) {
    const [, , script] = witness.command(deed);
    writeFileSync(join(folder, deed), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, deed), 0o755);
  }
  const problems: string[] = [];
  const runner = startProgramRunner({ client, namespace, clock, random, problem: (text) => problems.push(text) });
  let count = 0;
  return {
    engine: programEngine,
    client,
    leavesSuspendedAlone: true,
    order: (deed, special = {}) => orderFor(join(folder, deed), ++count, special),
    witnessed: () => witness.read(),
    async close() {
      await runner.stop();
      witness.remove();
      rmSync(folder, { recursive: true });
      if (problems.length > 0) throw new Error(problems.join("\n"));
    },
  };
});
