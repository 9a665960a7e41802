import { engineContract } from "../../src/engines/engine.contract.ts";
import { jobEngine } from "../../src/engines/index.ts";
import { jobController } from "../doubles/job-controller.ts";
import { openBench } from "./bench.ts";

engineContract("job", () =>
  openBench({ engine: jobEngine, double: (options, images) => jobController({ ...options, images }) }),
);
