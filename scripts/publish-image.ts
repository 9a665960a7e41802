import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Builds the image of a commit that is checked out, for all platforms, pushes it under its tag, and returns its digest. */
export function publishImage(image: string, commit: string, directory: string): string {
  const folder = mkdtempSync(join(tmpdir(), "interlock-image-"));
  const metadata = join(folder, "metadata.json");
  const options = ["--push", "--platform", "linux/amd64,linux/arm64", "--build-arg", `COMMIT=${commit.slice(0, 12)}`];
  try {
    const args = ["buildx", "build", ...options, "--tag", image, "--metadata-file", metadata, "."];
    execFileSync("docker", args, { cwd: directory, stdio: ["ignore", "inherit", "inherit"] });
    // Of the index of all platforms, as the registry has it.
    return JSON.parse(readFileSync(metadata, "utf8"))["containerimage.digest"] ?? "";
  } finally {
    rmSync(folder, { recursive: true });
  }
}
