import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ifMissing } from "../../disk/index.ts";

/** A file of the web app, in each encoding that the build has made. */
export interface StaticFile {
  readonly type: string;
  readonly cacheControl: string;
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** The web app, by the path of its URLs. Requests read nothing from the disk. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  png: "image/png",
  ico: "image/x-icon",
  woff2: "font/woff2",
  json: "application/json",
  webmanifest: "application/manifest+json",
  txt: "text/plain; charset=utf-8",
};

/** Reads the built web app: no files if the directory does not exist. */
export async function readStaticFiles(directory: string): Promise<StaticFiles> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(ifMissing([]));
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length).replaceAll("\\", "/"))
    .map((path) => (path.startsWith("/") ? path : `/${path}`));
  const known = new Set(paths);
  const files = new Map<string, StaticFile>();
  for (const path of paths) {
    const type = types[path.slice(path.lastIndexOf(".") + 1)];
    if (type === undefined) continue;
    const encoded = async (suffix: string) =>
      known.has(path + suffix) ? await readFile(join(directory, path + suffix)) : undefined;
    const [br, gzip] = [await encoded(".br"), await encoded(".gz")];
    files.set(path, {
      type,
      cacheControl: cacheControl(path),
      plain: await readFile(join(directory, path)),
      ...(br && { br }),
      ...(gzip && { gzip }),
    });
  }
  return files;
}

/** A file whose name contains its hash never changes; every other one is checked with each request. */
function cacheControl(path: string): string {
  if (path.endsWith(".html")) return "no-store";
  return /[-.][A-Za-z0-9_-]{8,}\.\w+$/.test(path) ? "public, max-age=31536000, immutable" : "no-cache";
}

/** The file for a path: itself, or the start page for a page of the app, which has no dot in its last part. */
export function findFile(files: StaticFiles, path: string): StaticFile | undefined {
  const isPage = !path.slice(path.lastIndexOf("/")).includes(".");
  return files.get(path) ?? (isPage ? files.get("/index.html") : undefined);
}

/** The best encoding of a file that the client accepts. */
export function encodeFile(
  file: StaticFile,
  acceptEncoding: string,
): { readonly body: Buffer; readonly encoding?: string } {
  const accepted = acceptEncoding.split(",").map((one) => one.trim().toLowerCase());
  const accepts = (name: string) =>
    accepted.some((one) => one === name || (one.startsWith(`${name};`) && !/;\s*q=0(\.0*)?$/.test(one)));
  if (file.br && accepts("br")) return { body: file.br, encoding: "br" };
  if (file.gzip && accepts("gzip")) return { body: file.gzip, encoding: "gzip" };
  return { body: file.plain };
}
