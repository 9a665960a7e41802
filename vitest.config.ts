import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "web/src/**/*.test.ts"],
    globalSetup: "test/services/program.ts",
    setupFiles: "test/services/property-seed.ts",
    pool: "forks",
    // Many tests wait for timers or processes, so two cores can serve three workers.
    maxWorkers: 3,
    // Files of one worker share loaded modules: loading them anew took a quarter of the time. No module keeps state.
    isolate: false,
    // Long enough for a machine under load; a hang is still found.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
