import { existsSync, readdirSync } from "node:fs";
import { isInstalled, run } from "./run.ts";

/** What the tests need besides npm packages: the program they start, and Debian's package that has it. */
const services: readonly Service[] = [
  { program: "redis-server", debianPackage: "redis-server", isThere: () => isInstalled("redis-server") },
  { program: "initdb", debianPackage: "postgresql", isThere: hasPostgres },
  // Of Prometheus only the program that plays its rules.
  { program: "promtool", debianPackage: "prometheus", isThere: () => isInstalled("promtool") },
  // The browser that the console is tested in.
  { program: "chromium", debianPackage: "chromium", isThere: () => isInstalled("chromium") },
  // Commands of the documentation use it.
  { program: "jq", debianPackage: "jq", isThere: () => isInstalled("jq") },
  // Shells that the completion is tested in.
  { program: "zsh", debianPackage: "zsh", isThere: () => isInstalled("zsh") },
  { program: "fish", debianPackage: "fish", isThere: () => isInstalled("fish") },
];

/** What only the long campaigns need. */
const proofServices: readonly Service[] = [
  // Builds the image.
  { program: "buildah", debianPackage: "buildah", isThere: () => isInstalled("buildah") },
];

interface Service {
  readonly program: string;
  readonly debianPackage: string;
  isThere(): Promise<boolean>;
}

/**
 * Installs what is missing where we may, and says exactly what to install where we may not. The tests start these
 * programs themselves, on loopback ports of their own.
 */
export async function installServices({ isProof }: { readonly isProof: boolean }): Promise<string[]> {
  const problems: string[] = [];
  for (const { program, debianPackage, isThere } of isProof ? [...services, ...proofServices] : services) {
    if (await isThere()) continue;
    const mayInstall = process.getuid?.() === 0 && (await isInstalled("apt-get"));
    const installed = mayInstall && (await aptInstall(debianPackage)) && (await isThere());
    if (!installed) {
      problems.push(`${program} is missing. Install it with: sudo apt-get install ${debianPackage}`);
    }
  }
  return problems;
}

/** Debian keeps the programs of the server out of the way, one folder per version. */
async function hasPostgres(): Promise<boolean> {
  const home = "/usr/lib/postgresql";
  const versions = existsSync(home) ? readdirSync(home) : [];
  return versions.some((version) => existsSync(`${home}/${version}/bin/initdb`)) || (await isInstalled("initdb"));
}

async function aptInstall(debianPackage: string): Promise<boolean> {
  console.log(`installing ${debianPackage} …`);
  const quiet = { DEBIAN_FRONTEND: "noninteractive" };
  if ((await run("apt-get", ["update", "-qq"], quiet)) !== 0) return false;
  const policy = ["-o", "Dpkg::Options::=--force-confold"];
  const args = ["install", "-y", "-qq", "--no-install-recommends", ...policy, debianPackage];
  if ((await run("apt-get", args, quiet)) !== 0) return false;
  // The package may have started a server of its own, which is not needed: the tests start theirs.
  if (existsSync("/run/systemd/system")) await run("systemctl", ["disable", "--now", debianPackage]);
  return true;
}
