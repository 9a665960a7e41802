import { engineContract } from "../../src/engines/engine.contract.ts";
import { orderFor } from "./bench.ts";
import { LocalStage, pipeline } from "./local/local-stage.ts";
import { newWitness } from "./witness.ts";

engineContract("local", async () => {
  const stage = new LocalStage();
  const witness = newWitness();
  for (const deed of ["succeed", "fail", "hang"] as const) {
    const command = JSON.stringify(witness.command(deed));
    stage.workflow(
      deed,
      pipeline(`  tasks: [{name: remediate, taskSpec: {steps: [{name: run, command: ${command}}]}}]`),
    );
  }
  const runner = await stage.startRunner();
  await runner.active;
  let count = 0;
  return {
    engine: stage.engine,
    client: stage.client,
    leavesSuspendedAlone: true,
    order: (deed, special = {}) => orderFor(deed, ++count, special),
    witnessed: () => witness.read(),
    async close() {
      await stage[Symbol.asyncDispose]();
      witness.remove();
    },
  };
});
