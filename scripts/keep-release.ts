import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

// npx tsx scripts/keep-release.ts release/interlock-ops-interlock-0.1.0.tgz
//
// Keeps the files that the stages of a release need, for the tests that run it beside the next version. The web app, the types
// and the native modules of other systems would triple the size in the repository.
const parts = ["package.json", "dist/chunks", "dist/prebuilds/linux-x64", "dist/prebuilds/linux-arm64"];

/** Writes the parts of `tarball` to a file of the same name in `folder`, and returns its path. */
export function keepRelease(tarball: string, folder: string): string {
  const unpacked = mkdtempSync(join(tmpdir(), "interlock-keep-"));
  try {
    execFileSync("tar", ["-xzf", tarball, "-C", unpacked]);
    mkdirSync(folder, { recursive: true });
    const kept = join(folder, basename(tarball));
    const files = ["package/dist/interlock.mjs", ...parts.map((part) => `package/${part}`)];
    const same = ["--sort=name", "--owner=0", "--group=0", "--exclude=*musl*"];
    execFileSync("tar", [...same, "-I", "gzip -9n", "-cf", kept, "-C", unpacked, ...files]);
    return kept;
  } finally {
    rmSync(unpacked, { recursive: true });
  }
}

if (import.meta.filename === process.argv[1]) {
  const [, , tarball] = process.argv;
  if (tarball === undefined) {
    console.error("error: missing tarball; for example: npx tsx scripts/keep-release.ts release/NAME-0.2.0.tgz");
    process.exit(2);
  }
  console.log(keepRelease(tarball, "test/releases"));
}
