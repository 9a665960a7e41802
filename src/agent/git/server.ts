import { type Git, type GitOutput, gitSettings, type HardenedGitOptions } from "../../process/index.ts";
import { withoutSecrets } from "../../telemetry/index.ts";
import { RemoteError } from "../remote-error.ts";
import type { AccessToken } from "../rest/rest-client.ts";
import { isTokenRefused } from "./remote-failure.ts";
import type { Repository } from "./workshop.ts";

export interface GitServer {
  /** Protocol, host and port of GitLab. No other server gets the token. */
  readonly origin: string;
  readonly token: AccessToken;
}

/** The only protocol that git may use. */
export function gitProtocols({ origin }: GitServer): HardenedGitOptions["protocols"] {
  const protocol = origin.split(":")[0];
  if (protocol === "https" || protocol === "http" || protocol === "file") return [protocol];
  throw new TypeError(`unsupported git protocol ${JSON.stringify(protocol)}`);
}

/**
 * Git with our token, which is passed by environment, for this server alone, and is removed from the output. A rejected
 * run has changed nothing, and is repeated if there is a new token.
 */
export function gitOnServer(git: Git, server: GitServer): Git {
  return async (args, options) => {
    const token = await server.token({ refused: false });
    const output = await runWith(token, args, options);
    if (output.code === 0 || !isTokenRefused(output.stderr)) return output;
    const other = await server.token({ refused: true });
    return other === token ? output : await runWith(other, args, options);
  };

  async function runWith(token: string, ...[args, options]: Parameters<Git>): Promise<GitOutput> {
    const basic = Buffer.from(`oauth2:${token}`).toString("base64");
    const header = [`http.${server.origin}/.extraHeader`, `Authorization: Basic ${basic}`] as const;
    const env = { ...options.env, ...gitSettings(gitProtocols(server), [header]) };
    const output = await git(args, { ...options, env });
    return { ...output, stderr: withoutSecrets(output.stderr, [token, basic]) };
  }
}

/** Throws unless the repository is on this server: a clone URL comes from outside. */
export function checkAddress({ cloneUrl }: Repository, { origin }: GitServer): void {
  const url = URL.canParse(cloneUrl) ? new URL(cloneUrl) : undefined;
  const sameServer = url?.protocol === "file:" ? origin === "file://" : url?.origin === origin;
  if (!url || !sameServer) {
    const where = url?.host || "an unreadable address";
    throw new RemoteError("refused", `the repository is on ${where}, but the token is for ${origin}`);
  }
  if (url.username || url.password) throw new RemoteError("refused", "a clone URL must not carry credentials");
}
