import { run } from "./run.ts";

/** The steps of `npm run check`, the fastest first. */
const steps: readonly { readonly name: string; readonly command: readonly string[] }[] = [
  { name: "lint and format", command: ["biome", "check", "--error-on-warnings"] },
  { name: "types", command: ["tsc"] },
  { name: "types of the web app", command: ["tsc", "-p", "web"] },
  { name: "boundaries", command: ["depcruise", "src", "web/src"] },
  { name: "unused code", command: ["knip"] },
  { name: "vocabulary", command: ["tsx", "scripts/vocabulary.ts"] },
  { name: "generated documents", command: ["tsx", "scripts/docs.ts", "--check"] },
];

/** Runs every step, even after one has failed. Returns the names of the failed steps. */
export async function check(): Promise<{ passed: number; failed: string[] }> {
  const failed: string[] = [];
  for (const { name, command } of steps) {
    console.log(`\n── ${name}`);
    const code = await run("npx", ["--no-install", ...command], { npm_config_loglevel: "error" });
    if (code !== 0) failed.push(name);
  }
  return { passed: steps.length - failed.length, failed };
}

if (import.meta.filename === process.argv[1]) {
  const { passed, failed } = await check();
  console.log(`\n${passed} passed, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(", ")}` : ""}`);
  process.exit(failed.length === 0 ? 0 : 1);
}
