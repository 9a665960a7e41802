import { expect, it } from "vitest";
import { releasedProgram } from "../services/released-program.ts";
import { playStorm } from "./storm.ts";

// The long version is `npm run storm`.
it("what is accepted is recorded and decided while stages are killed, and nothing acts beside another", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const plan = { signals: 1_000, targets: 6, killEveryMs: 1_500, seed };

  const { problems, figures } = await playStorm({ ...plan, gateways: 2, orchestrators: 2, executors: 2, notifiers: 2 });

  expect(problems, `npm run storm -- --signals 1000 --targets 6 --replicas 2 --seed ${seed}`).toEqual([]);
  expect(figures["kills"]).toBeGreaterThan(0);
  expect(figures["executions Completed"]).toBeGreaterThan(0);
}, 240_000);

it("the same holds while replicas of the version before run beside this version, and are upgraded", async () => {
  using before = releasedProgram();
  const seed = Math.floor(Math.random() * 2 ** 31);
  const plan = { signals: 1_000, targets: 6, killEveryMs: 1_500, seed, before: before.program };

  const { problems, figures } = await playStorm({ ...plan, gateways: 2, orchestrators: 2, executors: 2, notifiers: 2 });

  const again = `npm run storm -- --signals 1000 --targets 6 --replicas 2 --seed ${seed} --before newest`;
  expect(problems, `${again} (${before.version})`).toEqual([]);
  expect(figures["upgrades"]).toBeGreaterThan(0);
  expect(figures["executions Completed"]).toBeGreaterThan(0);
}, 240_000);
