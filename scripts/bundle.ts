import { readFileSync } from "node:fs";
import { build, type Plugin, type Rolldown } from "vite";
import * as defaults from "../src/config/default-config.ts";
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
    plugins: [...plugins, yamlOfWorkers(), evaluatedDefaults()],
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
        // Only these act when they are imported. Of all others a command loads what it uses, through any index.ts.
        treeshake: {
          moduleSideEffects: (id) => !/\/src\//.test(id) || /\/src\/(main|cli\/command-line)\.ts$/.test(id),
        },
        output: {
          entryFileNames: "[name].mjs",
          chunkFileNames: "chunks/[name]-[hash].mjs",
          codeSplitting: { groups },
        },
      },
    },
  })) as Rolldown.RolldownOutput;
  return output.filter((file) => file.type === "chunk");
}

/**
 * Chunks with everything that their modules import, as each file takes time to open: what every command needs, and what all
 * commands that call the API server need besides. The file that awaits the command is in neither, or both would wait for
 * each other.
 */
const groups: Rolldown.CodeSplittingGroup[] = [
  // It looks for its native part in the folder above its own.
  { name: "sqlite", test: /node_modules\/@photostructure\/sqlite\//, priority: 3 },
  { name: "program", test: /\/src\/cli\/program\.ts$/, priority: 2 },
  { name: "desk", test: /\/src\/cli\/(open-desk|commands\/get)\.ts$/, priority: 1 },
];

/** The defaults of all settings as data, without the code that computes them. */
function evaluatedDefaults(): Plugin {
  return {
    name: "evaluated-defaults",
    transform(_code, id) {
      if (!id.endsWith("/src/config/default-config.ts")) return undefined;
      return Object.entries(defaults)
        .map(([name, value]) => `export const ${name} = ${toSource(value)};`)
        .join("\n");
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
