import { engineContract } from "../../src/engines/engine.contract.ts";
import { tektonEngine } from "../../src/engines/index.ts";
import { tektonController } from "../doubles/tekton-controller.ts";
import { openBench } from "./bench.ts";

engineContract("tekton", () =>
  openBench({
    engine: tektonEngine,
    double(options, images) {
      const pipelines = Object.entries(images).map(([image, does]) => {
        const tasks = [{ name: "remediate", steps: [{ name: "run", does }] }];
        return [image, { params: ["TARGET_RESOURCE"], tasks }] as const;
      });
      return tektonController({ ...options, bundles: Object.fromEntries(pipelines) });
    },
  }),
);
