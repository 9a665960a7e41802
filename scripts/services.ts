import { existsSync, readdirSync } from "node:fs";
import { isInstalled, run } from "./run.ts";

/** The programs that the tests need, with their Debian packages. */
const services: readonly Service[] = [
  { program: "redis-server", debianPackage: "redis-server" },
  { program: "initdb", debianPackage: "postgresql", isThere: hasPostgres },
  // Evaluates the alert rules.
  { program: "promtool", debianPackage: "prometheus" },
  // The browser for the tests of the console.
  { program: "chromium", debianPackage: "chromium" },
  // Commands of the documentation use it.
  { program: "jq", debianPackage: "jq" },
  // Shells for the tests of the completion.
  { program: "zsh", debianPackage: "zsh" },
  { program: "fish", debianPackage: "fish" },
];

/** The programs that only `npm run proof` needs. */
const proofServices: readonly Service[] = [
  // Builds the image.
  { program: "buildah", debianPackage: "buildah" },
];

interface Service {
  readonly program: string;
  readonly debianPackage: string;
  /** Default: whether the program is on the PATH. */
  readonly isThere?: () => Promise<boolean>;
}

/**
 * Installs missing programs as root on Debian, and otherwise returns what to install. The tests start these programs themselves,
 * on their own loopback ports.
 */
export async function installServices({ isProof }: { readonly isProof: boolean }): Promise<string[]> {
  const problems: string[] = [];
  for (const service of isProof ? [...services, ...proofServices] : services) {
    const { program, debianPackage, isThere = () => isInstalled(program) } = service;
    if (await isThere()) continue;
    const mayInstall = process.getuid?.() === 0 && (await isInstalled("apt-get"));
    const installed = mayInstall && (await aptInstall(debianPackage)) && (await isThere());
    if (!installed) {
      problems.push(`${program} is missing. Install it with: sudo apt-get install ${debianPackage}`);
    }
  }
  return problems;
}

/** Debian installs the programs of the server outside of the PATH, in one folder per version. */
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
  // The package may have started a server, which the tests do not use.
  if (existsSync("/run/systemd/system")) await run("systemctl", ["disable", "--now", debianPackage]);
  return true;
}
