import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Deed, Witnessed } from "../../src/engines/engine.contract.ts";

/** A file to which steps themselves append that they began, and commands that do so. */
export interface Witness {
  command(deed: Exclude<Deed, "never-begin">): readonly [string, ...string[]];
  read(): Promise<readonly Witnessed[]>;
  remove(): void;
}

export function newWitness(): Witness {
  const directory = mkdtempSync(join(tmpdir(), "interlock-witness-"));
  const file = join(directory, "began");
  appendFileSync(file, "");
  const note = `echo "$EXECUTION_UID $TARGET_RESOURCE $FENCE $$" >> '${file}'`;
  const then = { succeed: "exit 0", fail: "exit 3", hang: "exec sleep 600" };
  return {
    command: (deed) => ["/bin/sh", "-c", `${note}; ${then[deed]}`],
    async read() {
      const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
      return lines.map((line) => {
        const [executionUid = "", target = "", fence = "", pid = ""] = line.split(" ");
        return { executionUid, target, fence, pid: Number(pid) };
      });
    },
    remove: () => rmSync(directory, { recursive: true }),
  };
}
