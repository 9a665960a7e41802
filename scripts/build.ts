import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.ts";
import { bundleWeb } from "./bundle-web.ts";
import { emitLibraryTypes } from "./library-types.ts";
import { publish } from "./publish.ts";
import { sbom } from "./sbom.ts";
import { type BundledPackage, bundledPackages, thirdPartyNotices } from "./third-party-notices.ts";

// scripts/setup.mjs runs this, with BuildOptions as its argument. It builds dist/:
//   interlock.mjs             the program
//   coordination.mjs          the library
//   types/                    the declarations of the library, only where they are asked for
//   web/                      the web app of the console
//   chunks/, prebuilds/       their code, which is loaded when it is used, and the native part of SQLite
//   THIRD-PARTY-NOTICES.txt   the licences of the packages in the bundle
//   sbom.cdx.json             the packages in the bundle, for scanners
//   build.json                the options, written last

interface BuildOptions {
  /** Identifies the sources. */
  readonly stamp: string;
  /** Empty, if the sources are in no repository. */
  readonly commit: string;
  /** With the declarations of the library, which take longer than everything else. */
  readonly withTypes: boolean;
}

/** SQLite's native part, for the platforms with Interlock's users. Windows has none: it cannot lock a data directory. */
const prebuilds = [
  "linux-x64/@photostructure+sqlite.glibc.node",
  "linux-x64/@photostructure+sqlite.musl.node",
  "linux-arm64/@photostructure+sqlite.glibc.node",
  "darwin-arm64/@photostructure+sqlite.glibc.node",
];

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const options = JSON.parse(process.argv[2] ?? "{}") as BuildOptions;

mkdirSync(dist, { recursive: true });
const directory = mkdtempSync(join(dist, ".build-"));
try {
  await buildInto(directory);
  publish(directory, dist);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function buildInto(directory: string): Promise<void> {
  const chunks = await bundle({
    entries: { interlock: join(root, "src/main.ts"), coordination: join(root, "src/library/index.ts") },
    directory,
    ...(options.commit && { commit: options.commit }),
  });
  makeExecutable(join(directory, "interlock.mjs"));
  const sqlite = join(root, "node_modules/@photostructure/sqlite");
  for (const file of prebuilds) cpSync(join(sqlite, "prebuilds", file), join(directory, "prebuilds", file));
  const webModules = await bundleWeb(join(directory, "web"));
  const packages = bundledPackages([...chunks.flatMap(({ moduleIds }) => moduleIds), ...webModules]);
  writeFileSync(join(directory, "THIRD-PARTY-NOTICES.txt"), thirdPartyNotices(packages));
  writeFileSync(join(directory, "sbom.cdx.json"), billOfMaterials(packages));
  if (options.withTypes) emitLibraryTypes(join(directory, "types"));
  writeFileSync(join(directory, "build.json"), JSON.stringify(options));
}

function billOfMaterials(packages: readonly BundledPackage[]): string {
  const read = (file: string) => JSON.parse(readFileSync(join(root, file), "utf8"));
  const { name, version, license } = read("package.json");
  const { packages: locked } = read("package-lock.json");
  const product = { name, version, license, commit: options.commit };
  // node_modules may be a link to that of another work tree.
  const lockedPath = (folder: string) => relative(root, folder).replace(/^.*?node_modules\//, "node_modules/");
  return sbom(product, packages, ({ folder }) => locked[lockedPath(folder)]?.integrity);
}

function makeExecutable(file: string): void {
  writeFileSync(file, `#!/usr/bin/env node\n${readFileSync(file, "utf8")}`);
  chmodSync(file, 0o755);
}
