import { maxTargetLength, problem, type RepositoryTarget, type TargetReading } from "./target.ts";

/** A branch of a repository, with any URL of the repository. */
interface RepositoryReference {
  /** Any clone URL: `https://host/path.git`, `ssh://git@host/path`, `git@host:path.git`. */
  readonly url: string;
  readonly branch: string;
  /** The project's numeric id, if its server provides it. It survives renames, so it replaces the path. */
  readonly projectId?: number;
}

/** The target of a branch, independent of scheme, case, port, credentials and `.git` in the URL. */
export function toRepositoryTarget({ url, branch, projectId }: RepositoryReference): TargetReading<RepositoryTarget> {
  const address = parseAddress(url);
  if (!address || address.rest.includes("@")) return problem(`is not a repository: ${expected}`);
  return toTarget(address.host, projectId === undefined ? parsePath(address.rest) : projectKey(projectId), branch);
}

/** Parses `git:host/path@branch`, with any clone URL in place of host and path. */
export function parseRepositoryTarget(text: string): TargetReading<RepositoryTarget> {
  const address = parseAddress(text.slice("git:".length));
  if (!address) return problem(`is not a repository: ${expected}`);
  const at = address.rest.indexOf("@");
  if (at < 0) return problem(`names no branch: ${expected}`);
  return toTarget(address.host, parsePath(address.rest.slice(0, at)), address.rest.slice(at + 1));
}

/** The canonical form of `git:host/path`, which means all branches of a repository. */
export function repositoryText(text: string): string | undefined {
  const { host, rest = "@" } = parseAddress(text.slice("git:".length)) ?? {};
  const path = rest.includes("@") ? undefined : parsePath(rest);
  return path === undefined ? undefined : `git:${host}/${path}`;
}

// A problem does not repeat the text, which may contain a token.
const expected = "write git:host/path@branch";

// Host and rest of an address. The last @ before the path ends the credentials.
const addresses = [
  // ssh://git@host:22/path, https://user:token@host/path
  /^[a-z][a-z0-9+.-]*:\/\/(?:[^/]*@)?([^\s/@:[\]]+|\[[0-9a-f:.]+\])(?::\d*)?\/(.+)$/i,
  // git@host:path, where a number after the colon is part of the path
  /^[^/@:]+@([^\s/@:[\]]+|\[[0-9a-f:.]+\]):(.+)$/i,
  // host/path, host:8443/path
  /^(?:[^/]*@)?([^\s/@:[\]]+|\[[0-9a-f:.]+\])(?::\d+)?\/(.+)$/i,
  // host:path
  /^([^\s/@:[\]]+):([^/].*)$/,
];

/** `rest` is the path, and whatever follows it. */
function parseAddress(text: string): { readonly host: string; readonly rest: string } | undefined {
  if (text.length > 4 * maxTargetLength) return undefined;
  for (const address of addresses) {
    const [, host = "", rest = ""] = address.exec(text) ?? [];
    const name = parseHost(host);
    if (name) return { host: name, rest };
  }
  return undefined;
}

/** Leaves out the port: that of ssh and that of https differ on one server, and to lock too much is the safe mistake. */
function parseHost(text: string): string | undefined {
  const url = `https://${text}/`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, "") || undefined : undefined;
}

function projectKey(projectId: number): string | undefined {
  return Number.isSafeInteger(projectId) && projectId > 0 ? String(projectId) : undefined;
}

/** In lower case, because GitLab and GitHub ignore the case of paths. */
function parsePath(text: string): string | undefined {
  const path = unescapePath(text)
    .toLowerCase()
    .replace(/(\.git|\/)+$/, "");
  const segments = path.split("/").filter((segment) => segment !== "");
  // A segment "-" begins a page about the repository, such as a merge request.
  const areValid = segments.every((segment) => /^[a-z0-9._~+-]+$/.test(segment) && !/^(-|\.|\.\.)$/.test(segment));
  return segments.length > 0 && areValid ? segments.join("/") : undefined;
}

function unescapePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function toTarget(host: string, path: string | undefined, ref: string): TargetReading<RepositoryTarget> {
  if (path === undefined) return problem(`has no valid path to a repository: ${expected}`);
  const branch = ref.replace(/^(refs\/heads\/)+/, "");
  if (!isBranch(branch)) return problem(`has no valid branch: ${expected}`);

  const text = `git:${host}/${path}@${branch}`;
  if (text.length > maxTargetLength) return problem(`is longer than ${maxTargetLength} characters`);
  return { kind: "target", target: { type: "repository", text, host, path, branch } };
}

/** The rules of git check-ref-format. */
function isBranch(name: string): boolean {
  if (/[\s\p{Cc}\p{Surrogate}~^:?*[\\]|\.\.|@\{|\/\/|\.$|^[-/]|\/$|^@$/u.test(name)) return false;
  return name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"));
}
