import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

/** The entry of one folder of node_modules in `package-lock.json`. */
interface Locked {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

describe("the lock file", () => {
  // Without this `npm ci` refuses it, and with that `docker build`, also on machines that the package is not for.
  it("names every package that one of its packages wants, those for other machines too", () => {
    const locked = (JSON.parse(readFileSync("package-lock.json", "utf8")) as { packages: Record<string, Locked> })
      .packages;

    const missing = Object.entries(locked).flatMap(([folder, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !placesOf(name, folder).some((place) => place in locked))
        .map((name) => `${name}, for ${folder}`),
    );

    expect(missing).toEqual([]);
    expect(Object.keys(locked).length).toBeGreaterThan(100);
  });
});

/** Where Node looks for `name` from `folder`: beside its own packages first, then outwards. */
function placesOf(name: string, folder: string): string[] {
  const outer = folder.lastIndexOf("/node_modules/");
  const place = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
  if (folder === "") return [place];
  return [place, ...placesOf(name, outer < 0 ? "" : folder.slice(0, outer))];
}
