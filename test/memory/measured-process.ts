// measured-process.ts ARGUMENTS: the command line tool, which also answers each message with the memory that is in use
// after a collection. Needs --expose-gc.
const { gc } = globalThis;
if (!gc) throw new TypeError("start it with --expose-gc");
process.on("message", () => {
  // Weak references are cleared by the first, and what only they held is freed by the second.
  void Promise.resolve(gc())
    .then(() => new Promise((resolve) => setImmediate(resolve)))
    .then(() => gc())
    .then(() => process.send?.(process.memoryUsage()));
});
await import("../../src/cli/command-line.ts");
