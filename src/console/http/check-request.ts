/** The headers of a request that identify the page that made it. */
export interface RequestOrigin {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`, which scripts cannot set. */
  readonly fetchSite: string | undefined;
}

/** The response to a request that is refused. */
export interface Refusal {
  readonly status: 403 | 421;
  readonly detail: string;
}

/**
 * Refuses a request for another host: a page whose name was made to resolve to this address (DNS rebinding) sends its own name.
 * `hosts` are names without ports.
 */
export function checkHost({ host }: Pick<RequestOrigin, "host">, hosts: ReadonlySet<string>): Refusal | undefined {
  if (host !== undefined && hosts.has(hostName(host))) return undefined;
  return {
    status: 421,
    detail: "This host name is not served. Add it to console.hosts if it is a name of this console.",
  };
}

/** `[::1]:8090` is `[::1]`. */
function hostName(host: string): string {
  return host.toLowerCase().replace(/:\d+$/, "");
}

/** Refuses a request that a page of another origin made (CSRF). Requests of programs other than browsers name no origin. */
export function checkOrigin({ host, origin, fetchSite }: RequestOrigin): Refusal | undefined {
  const isForeign =
    (fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none") ||
    (origin !== undefined && originHost(origin) !== host?.toLowerCase());
  return isForeign ? { status: 403, detail: "A page of another origin made this request." } : undefined;
}

/** A cookie is sent without its user's will, so a write with a cookie must prove which page it comes from. */
export function checkCookieWrite({ origin, fetchSite }: RequestOrigin): Refusal | undefined {
  if (origin !== undefined || fetchSite === "same-origin") return undefined;
  return {
    status: 403,
    detail:
      "A write with a session needs the header Origin or Sec-Fetch-Site, which browsers send. Programs use a bearer token.",
  };
}

/** Undefined for `null`, the origin of sandboxed and local pages. */
function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** The names under which the console is reached: those of this machine for itself, the address it listens on, and the configured ones. */
export function servedHosts(listenHost: string, configured: readonly string[]): ReadonlySet<string> {
  const isWildcard = ["0.0.0.0", "::", ""].includes(listenHost);
  const own = isWildcard ? [] : [listenHost.includes(":") ? `[${listenHost}]` : listenHost];
  return new Set(["localhost", "127.0.0.1", "[::1]", ...own, ...configured].map((name) => name.toLowerCase()));
}
