import { basename, delimiter, dirname } from "node:path";

export interface Invocation {
  /** The file that Node runs, as it was named. */
  readonly script: string;
  /** The same without links. */
  readonly realPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The shell line that makes `interlock` run this program in another terminal. Undefined if it does so anyway. */
export function aliasLine({ script, realPath, env }: Invocation): string | undefined {
  if (script.endsWith("/scripts/start.mjs")) return "alias interlock='npm run -s interlock --'";
  // npx adds its folder to the PATH of this process only.
  const isNpx = env["npm_command"] === "exec";
  const isOnPath = env["PATH"]?.split(delimiter).includes(dirname(script)) && basename(script) === "interlock";
  return isOnPath && !isNpx ? undefined : `alias interlock='node "${realPath}"'`;
}
