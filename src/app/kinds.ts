import type { Config } from "../config/index.ts";
import type { Problem } from "../kube/index.ts";
import { builtInKinds, type CustomKind, grantKinds, type KindsCache, watchKinds } from "../resources/index.ts";
import type { StageOptions } from "./stage.ts";

/** A cache of kinds that can be closed. */
export interface OpenedKinds {
  readonly kinds: KindsCache;
  close(): void;
}

type KindsOptions = Pick<StageOptions, "kinds" | "loaded" | "client" | "clock" | "random" | "log">;

/** Returns the kinds that the stages of the process share, or watches them for this stage. */
export function openKinds({ kinds, loaded, client, clock, random, log }: KindsOptions): OpenedKinds {
  if (kinds) return { kinds, close: () => {} };
  const stop = new AbortController();
  const problem = (found: Problem) => {
    const isRefused = found.kind === "forbidden" || found.kind === "invalid";
    const next = "built-in and declared kinds remain known";
    log.warn("custom kinds watch failed", { ...found, next, ...(isRefused && { fix: grantKinds }) });
  };
  const declared = declaredKinds(loaded.config);
  return {
    kinds: watchKinds({ client, declared, clock, random, signal: stop.signal, problem }),
    close: () => stop.abort(),
  };
}

/** The kinds that the configuration declares. Throws TypeError if one of them is built in. */
export function declaredKinds({ kinds }: Pick<Config, "kinds">): readonly CustomKind[] {
  return (kinds.declared ?? []).map(({ scope, ...declared }) => {
    const spellings = [declared.kind, declared.plural].map((name) => `${name}.${declared.group}`);
    const taken = spellings.find((spelling) => builtInKinds.find(spelling));
    if (taken !== undefined) {
      throw new TypeError(`kinds.declared declares ${taken}, which is built in: remove it from the list`);
    }
    return { ...declared, namespaced: scope === "Namespaced" };
  });
}
