import { rename } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

/**
 * `tsx scripts/bundle.ts FILE STAMP`: makes one file of plain JavaScript of the program and all it imports, which starts
 * several times faster than many files. The file begins with STAMP, so that a later start can tell what it was made from.
 */
const [file = "dist/interlock.mjs", stamp = "no stamp"] = process.argv.slice(2);
const unfinished = `.${process.pid}.${basename(file)}`;
await build({
  configFile: false,
  logLevel: "error",
  // It finds its native part beside itself.
  ssr: { noExternal: true, external: ["@photostructure/sqlite"] },
  build: {
    ssr: fileURLToPath(new URL("../src/main.ts", import.meta.url)),
    outDir: dirname(file),
    target: "node20",
    minify: false,
    emptyOutDir: false,
    rolldownOptions: { output: { entryFileNames: unfinished, codeSplitting: false, banner: `// ${stamp}` } },
  },
});
// Another process may start from the file at this moment: it sees the earlier one or the new one, never a part.
await rename(`${dirname(file)}/${unfinished}`, file);
