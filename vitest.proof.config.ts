import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** The long campaigns: simulations, crash points, storms. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ["test/**/*.proof.ts"], maxWorkers: 2, isolate: true },
});
