import { readFileSync } from "node:fs";
import { build, type Plugin, type Rolldown } from "vite";
import * as defaultConfig from "../src/config/default-config.ts";
import * as crds from "../src/resources/kinds/our-crds.ts";
import { toSource } from "./to-source.ts";

export interface BundleOptions {
  /** The source file of each program or library, by the name of its file in the bundle. */
  readonly entries: Readonly<Record<string, string>>;
  readonly directory: string;
  readonly plugins?: readonly Plugin[];
  /** The commit that `interlock --version` prints. */
  readonly commit?: string;
}

/**
 * Bundles programs with everything they import: `NAME.mjs` for each entry, and `chunks/` for the code that entries share or
 * import when they need it. SQLite expects its native part in `prebuilds/`, which the caller provides. Returns the output.
 */
export async function bundle(options: BundleOptions): Promise<readonly Rolldown.OutputChunk[]> {
  const { entries, directory, plugins = [], commit } = options;
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const { output } = (await build({
    configFile: false,
    logLevel: "error",
    plugins: [...plugins, yamlOfWorkers(), evaluatedModules()],
    ssr: { noExternal: true },
    define: { INTERLOCK_BUILD: JSON.stringify({ version, commit }) },
    build: {
      ssr: true,
      outDir: directory,
      target: "node20",
      minify: false,
      emptyOutDir: false,
      rolldownOptions: {
        input: entries,
        // Only these modules have side effects. Of all others, a command loads only those that it uses.
        treeshake: {
          moduleSideEffects: (id) => !/\/src\//.test(id) || /\/src\/(main|cli\/command-line)\.ts$/.test(id),
        },
        output: {
          entryFileNames: "[name].mjs",
          chunkFileNames: "chunks/[name]-[hash].mjs",
          // Node prints the line and the function names of an uncaught error.
          minify: false,
          codeSplitting: { groups },
        },
      },
    },
  })) as Rolldown.RolldownOutput;
  return output.filter((file) => file.type === "chunk");
}

/**
 * Chunks with everything that their modules import, because each file takes time to open: the modules of all commands, of
 * commands that call the API server, and of commands that evaluate the policy. The file that awaits the command is in none of
 * them: it would wait for its own chunk.
 */
const groups: Rolldown.CodeSplittingGroup[] = [
  // It loads its native part from the folder above its own.
  { name: "sqlite", test: /node_modules\/@photostructure\/sqlite\//, priority: 4 },
  // Libraries that commands of several groups need, or none of them.
  ...["zod", "yaml", "re2js"].map((name) => ({ name, test: new RegExp(`node_modules/${name}/`), priority: 4 })),
  { name: "program", test: /\/src\/cli\/program\.ts$/, priority: 3 },
  { name: "server", test: /\/src\/cli\/(server-context|commands\/get)\.ts$/, priority: 2 },
  { name: "policy", test: /\/src\/cli\/(rule-readers|commands\/why)\.ts$/, priority: 1 },
];

/** Modules whose functions have no parameters and return the same data in every process. */
const evaluated: Readonly<Record<string, Readonly<Record<string, () => unknown>>>> = {
  "src/config/default-config.ts": { ...defaultConfig },
  "src/resources/kinds/our-crds.ts": { ...crds },
};

/** Bundles the results of these functions, without the code that computes them. */
function evaluatedModules(): Plugin {
  return {
    name: "evaluated-modules",
    transform(_code, id) {
      const [, functions] = Object.entries(evaluated).find(([path]) => id.endsWith(`/${path}`)) ?? [];
      return (
        functions &&
        Object.entries(functions)
          .map(([name, call]) => `export function ${name}() { return ${toSource(call())}; }`)
          .join("\n")
      );
    },
  };
}

/** The thread that reads YAML gets the path of its library: of the bundle's own copy, not of a package. */
function yamlOfWorkers(): Plugin {
  const fromPackage = 'pathToFileURL(createRequire(import.meta.url).resolve("yaml")).href';
  return {
    name: "yaml-of-workers",
    transform(code, id) {
      if (!id.endsWith("/src/apiserver/http/yaml-reader.ts")) return undefined;
      if (!code.includes(fromPackage)) throw new Error(`${id} no longer has: ${fromPackage}`);
      const chunk = this.emitFile({ type: "chunk", id: "yaml", name: "yaml" });
      return code.replace(fromPackage, `import.meta.ROLLUP_FILE_URL_${chunk}`);
    },
  };
}
