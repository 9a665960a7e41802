import { join } from "node:path";
import type { LocalCoderOptions } from "../../../src/agent/index.ts";
import { silentLogger } from "../../../src/telemetry/index.ts";
import { systemClock } from "../../../src/time/index.ts";
import { makeRepository } from "./repository.ts";

/** A secret of ours, which no other process may see. */
export const token = "glpat-thisIsOurOwnTokenForTests";

export interface CoderWishes extends Partial<Omit<LocalCoderOptions, "limits">> {
  readonly limits?: Partial<LocalCoderOptions["limits"]>;
}

/** A coder for what lies in `root`, where a folder `data` is. */
export async function coderOptions(root: string, { limits, ...wishes }: CoderWishes) {
  const { workshop, order } = await makeRepository(join(root, "data"), { README: "hello\n", second: "file\n" });
  const options: LocalCoderOptions = {
    workshop,
    command: ["true"],
    environment: {},
    limits: {
      timeoutMs: 15_000,
      maxOutputBytes: 200_000,
      maxAddedBytes: 5_000_000,
      maxAddedFiles: 500,
      patch: { maxBytes: 1_000_000, maxFiles: 200, protectedPaths: [".gitlab-ci.yml"] },
      ...limits,
    },
    secrets: async () => [token],
    ownSecrets: async () => [token],
    directory: join(root, "scratch"),
    hidden: [join(root, "data"), join(root, "token-file")],
    isolation: { namespaces: undefined, user: undefined, network: true },
    clock: systemClock(),
    log: silentLogger,
    ...wishes,
  };
  return { options, order, workshop };
}
