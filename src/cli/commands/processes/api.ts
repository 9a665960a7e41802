import { startEmbeddedApi } from "../../../app/index.ts";
import { pinoLogger } from "../../../telemetry/index.ts";
import { MisuseError } from "../../command.ts";
import { type CommandContext, closeOnSignal } from "../../context.ts";

/** `interlock api` */
export async function api({ clock, random, env, terminal }: CommandContext, options: ApiOptions): Promise<void> {
  const log = pinoLogger({ level: "warn", format: "text", clock });
  const settings = readApiOptions(options, env);
  const { url, kubeconfigFile, close } = await startEmbeddedApi({ ...settings, clock, random, log });
  const screen = `Interlock's API server is running.

  API server   ${url}   objects are kept in ${settings.directory}
  kubectl      kubectl --kubeconfig ${kubeconfigFile} get namespaces
  stop         Ctrl-C; everything is still there at the next start
`;
  for (const line of screen.split("\n")) terminal.print(line);
  await closeOnSignal(close, clock);
}

/** The options of `interlock api` and `interlock up`. */
export interface ApiOptions {
  readonly data?: string;
  readonly listen: string;
  readonly token?: string;
  readonly kubeconfigOut?: string;
  readonly acceptPlainTokens?: boolean;
}

/** The checked options, completed from the environment. */
interface ApiSettings {
  readonly directory: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly token?: string;
  readonly kubeconfigFile?: string;
  /** Whether tokens are accepted over plain HTTP. */
  readonly acceptPlainTokens: boolean;
}

/** Checks the options, and completes them from the environment. */
export function readApiOptions(options: ApiOptions, env: Readonly<Record<string, string | undefined>>): ApiSettings {
  const token = options.token ?? env["INTERLOCK_TOKEN"];
  if (token !== undefined && !/^[\w.~+/=-]{8,}$/.test(token)) {
    throw new MisuseError("the token must have at least 8 characters out of A-Z a-z 0-9 . _ ~ + / = -");
  }
  const acceptPlainTokens = options.acceptPlainTokens ?? env["INTERLOCK_ACCEPT_PLAIN_TOKENS"] === "true";
  return {
    acceptPlainTokens,
    directory: options.data ?? (env["INTERLOCK_DATA"] || ".data"),
    listen: readAddress(options.listen),
    ...(token !== undefined && { token }),
    ...(options.kubeconfigOut !== undefined && { kubeconfigFile: options.kubeconfigOut }),
  };
}

function readAddress(text: string): { host: string; port: number } {
  const [, host = "", digits = ""] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    throw new MisuseError(`--listen needs HOST:PORT, such as 127.0.0.1:7080; got ${text}`);
  return { host: host.replace(/^\[|\]$/g, "") || "127.0.0.1", port };
}
