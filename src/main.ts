import module from "node:module";

/** The oldest Node that can read the rest; the same as in package.json. */
const [major, minor] = [20, 19];

const [ourMajor = 0, ourMinor = 0] = process.versions.node.split(".").map(Number);
if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) {
  // Node 22.8 and newer then keep the compiled code of the program for its next start.
  (module as { enableCompileCache?: () => unknown }).enableCompileCache?.();
  // Imported late: an older Node fails to parse these files with an error that does not name the cause.
  await import("./cli/command-line.ts");
} else {
  console.error(
    `error: Node ${process.versions.node} is too old; install Node ${major}.${minor} or newer, then npm install again`,
  );
  process.exitCode = 1;
}
