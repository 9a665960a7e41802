// The architecture, as a table. A folder of src/ may import itself and the folders listed after it.
const mayImport = {
  time: [],
  schema: [],
  telemetry: ["time"],
  config: ["time", "schema"],
  disk: ["time"],
  process: ["time", "telemetry", "disk"],
  kube: ["time", "schema", "telemetry", "disk"],
  http: ["time", "kube"],
  apiserver: ["time", "telemetry", "disk", "kube"],
  resources: ["time", "schema", "kube"],
  manifests: ["kube", "apiserver", "resources"],
  coordination: ["time", "telemetry", "process", "kube"],
  stalls: ["time", "telemetry", "kube", "resources"],
  policy: ["time", "schema", "resources"],
  ledger: ["time", "schema", "telemetry", "disk"],
  tasks: ["time", "telemetry", "kube", "resources", "coordination", "ledger"],
  engines: ["time", "schema", "disk", "telemetry", "process", "kube", "resources"],
  actions: ["time", "schema", "kube", "resources", "coordination"],
  sources: ["time", "schema", "telemetry", "kube", "resources", "tasks", "coordination"],
  gateway: ["time", "telemetry", "disk", "kube", "http", "resources", "tasks", "coordination", "ledger", "stalls"],
  orchestrator: ["time", "telemetry", "kube", "resources", "policy", "ledger", "coordination", "stalls"],
  executor: ["time", "telemetry", "kube", "resources", "policy", "ledger", "engines", "stalls"],
  agent: [
    "time",
    "schema",
    "telemetry",
    "disk",
    "process",
    "kube",
    "resources",
    "tasks",
    "coordination",
    "policy",
    "ledger",
    "engines",
    "stalls",
  ],
  notify: ["time", "schema", "telemetry", "kube", "resources", "ledger", "coordination", "stalls"],
  operate: ["time", "schema", "kube", "resources", "policy", "ledger"],
};
mayImport.console = [
  "time",
  "schema",
  "telemetry",
  "disk",
  "kube",
  "http",
  "resources",
  "coordination",
  "policy",
  "ledger",
  "engines",
  "operate",
];
// The library is no part of the program: nothing imports it.
mayImport.library = ["time", "kube", "coordination"];
// main.ts → cli → app → everything: `app` composes the parts, `cli` is what can be typed, and neither is imported by a part.
mayImport.app = Object.keys(mayImport).filter((folder) => folder !== "library");
mayImport.cli = [...mayImport.app, "app"];

const tests = "\\.(test|contract)\\.ts$";
const adapters = "(memory|redis|kubernetes|http|tekton|job|local|file)";

const folderRules = Object.entries(mayImport).map(([folder, others]) => ({
  name: `${folder}-imports`,
  comment: `src/${folder} may import: ${[folder, ...others].join(", ")}`,
  severity: "error",
  from: { path: `^src/${folder}/`, pathNot: tests },
  to: { path: "^src/", pathNot: `^src/(${[folder, ...others].join("|")})/` },
}));

export default {
  forbidden: [
    ...folderRules,
    {
      name: "enter-through-index",
      comment: "Another folder is imported through its index.ts; the library names files, to declare nothing but these",
      severity: "error",
      from: { path: "^src/([^/]+)/", pathNot: [tests, "^src/library/"] },
      to: { path: "^src/[^/]+/", pathNot: ["^src/$1/", "/index\\.ts$"] },
    },
    {
      name: "ports-know-no-adapters",
      comment: "Only a folder's index.ts names its adapters; port, engine and helpers do not",
      severity: "error",
      from: { path: "^src/([^/]+)/[^/]+\\.ts$", pathNot: [tests, "^src/[^/]+/index\\.ts$"] },
      to: { path: `^src/$1/${adapters}/` },
    },
    ...[
      ["ioredis", "coordination/redis"],
      ["prom-client", "telemetry"],
      ["pino", "telemetry"],
      ["yaml", "(config|apiserver/http|kube/connection|engines/local|resources)"],
      ["re2js", "kube"],
      ["zod", "(schema|resources)"],
      ["fastify", "(http|gateway/http|console/http)"],
      ["openid-client", "console/identity"],
      ["commander", "cli"],
      ["pg", "ledger/database/postgres"],
      ["nodemailer", "notify/channels"],
      ["@photostructure/sqlite", "ledger/database/sqlite"],
      ["@marcbachmann/cel-js", "(apiserver|sources/mapping)"],
    ].map(([vendor, home]) => ({
      name: `${vendor}-lives-in-one-folder`,
      severity: "error",
      from: { path: "^src/", pathNot: `^src/${home}/|\\.test\\.ts$` },
      to: { path: `^(node_modules/)?${vendor}(/|$)` },
    })),
    {
      name: "web-app-knows-only-the-wire",
      comment: "The web app shares types with the server, and no code",
      severity: "error",
      from: { path: "^web/src/" },
      to: { path: "^src/", pathNot: "^src/console/wire\\.ts$" },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    { name: "no-orphans", severity: "error", from: { orphan: true, path: "^src/", pathNot: [tests] }, to: {} },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
  },
};
