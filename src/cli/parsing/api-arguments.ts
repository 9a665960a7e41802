import { parseArgs } from "node:util";

/** What `interlock api` and `interlock up` were asked for. */
export interface ApiArguments {
  readonly directory: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly token?: string;
  readonly kubeconfigFile?: string;
  /** Whether tokens are accepted over plain HTTP. */
  readonly acceptPlainTokens: boolean;
}

/** Reads the arguments, or throws a TypeError that says what is wrong with them. */
export function readApiArguments(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ApiArguments {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string", default: env["INTERLOCK_DATA"] || ".data" },
      listen: { type: "string", default: "127.0.0.1:7080" },
      token: { type: "string" },
      "kubeconfig-out": { type: "string" },
      "accept-plain-tokens": { type: "boolean" },
    },
  });
  const token = values.token ?? env["INTERLOCK_TOKEN"];
  if (token !== undefined && !/^[\w.~+/=-]{8,}$/.test(token)) {
    throw new TypeError("the token must have at least 8 characters out of A-Z a-z 0-9 . _ ~ + / = -");
  }
  const acceptPlainTokens = values["accept-plain-tokens"] ?? env["INTERLOCK_ACCEPT_PLAIN_TOKENS"] === "true";
  return {
    acceptPlainTokens,
    directory: values.data,
    listen: readAddress(values.listen),
    ...(token !== undefined && { token }),
    ...(values["kubeconfig-out"] !== undefined && { kubeconfigFile: values["kubeconfig-out"] }),
  };
}

function readAddress(text: string): { host: string; port: number } {
  const [, host = "", digits = ""] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535)
    throw new TypeError(`--listen wants HOST:PORT, such as 127.0.0.1:7080; got ${text}`);
  return { host: host.replace(/^\[|\]$/g, "") || "127.0.0.1", port };
}
