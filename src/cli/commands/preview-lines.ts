import { type SignalPreview, testSignals } from "../../console/read/index.ts";
import type { Desk } from "../command.ts";

/** What would become of each signal: at the gateway, by the rules, by the policy. */
export async function previewLines(results: readonly SignalPreview[], desk: Desk): Promise<readonly string[]> {
  return (await testSignals(results, await desk.rules(), desk)).flatMap(({ lines }) => lines);
}
