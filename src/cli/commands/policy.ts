import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  declaredKinds,
  openAlertmanagerReader,
  policySettings,
  readRulesFolder,
  yamlFilesIn,
} from "../../app/index.ts";
import { readCatalog } from "../../engines/index.ts";
import { type Expectation, readExpectations } from "../../policy/index.ts";
import {
  type CustomKind,
  currentEntry,
  type Engine,
  type Kinds,
  readDefinitions,
  readKinds,
  type SignalReader,
  type TextFile,
} from "../../resources/index.ts";
import { generic } from "../../sources/index.ts";
import { CommandError } from "../command.ts";
import { type CommandContext, configFrom } from "../context.ts";
import { testPolicy } from "./policy-test.ts";

interface PolicyTestOptions {
  readonly rules?: string;
  readonly crds?: readonly string[];
  readonly config?: string;
}

/** `interlock policy test` */
export async function policyTest(
  context: CommandContext,
  files: readonly string[],
  options: PolicyTestOptions,
): Promise<number> {
  const { config } = await configFrom(options.config, context);
  const directory = options.rules ?? config.rules.dir;
  const { rules, problems } = await readRulesFolder(directory);
  const wrong = [...problems];
  if (rules.length === 0 && wrong.length === 0) wrong.push(`${directory}: has no rules; name a folder with --rules`);
  const { kinds, problems: unreadable } = await loadKinds(options.crds ?? [], declaredKinds(config));
  const { workflowsDir, engine } = config.execution;
  const { workflows, problems: faults } = await loadCatalog(workflowsDir, engine, kinds);
  const paths = files.length > 0 ? files : [join(directory, "tests")];
  const alerts = await openAlertmanagerReader(config);
  const expectations = await loadExpectations(paths, { alerts, kinds }, [...wrong, ...unreadable, ...faults]);
  const workflow = (id: string) =>
    currentEntry(
      workflows.filter(({ spec }) => spec.workflowId === id),
      kinds,
    );
  return testPolicy(expectations, { rules, workflow, kinds, settings: policySettings(config) }, context.terminal);
}

/** The kinds that are defined in files, and those that are declared. */
async function loadKinds(paths: readonly string[], declared: readonly CustomKind[]) {
  const definitions: Parameters<typeof readKinds>[0][number][] = [];
  const problems: string[] = [];
  for (const path of paths) {
    const readings = (await readFiles(path)).map(readDefinitions);
    const found = readings.flatMap((reading) => (reading.kind === "valid" ? reading.definitions : []));
    const wrong = readings.flatMap((reading) => (reading.kind === "invalid" ? reading.problems : []));
    if (found.length === 0 && wrong.length === 0) problems.push(`${path}: has no CustomResourceDefinition`);
    definitions.push(...found);
    problems.push(...wrong);
  }
  return { kinds: readKinds(definitions, declared, offlineKinds), problems };
}

/** The hint for a kind that is not defined locally. */
const offlineKinds = "name its CustomResourceDefinition with --crds, or declare the kind in the setting kinds.declared";

async function loadCatalog(directory: string, defaultEngine: Engine, kinds: Kinds) {
  const found = await stat(directory).catch(() => undefined);
  return found
    ? readCatalog(directory, kinds, { defaultEngine })
    : { workflows: [], problems: [`${directory}: there is no such folder of workflows`] };
}

/** Reports all problems at once, earlier ones included. */
async function loadExpectations(
  paths: readonly string[],
  { alerts, kinds }: { readonly alerts: SignalReader; readonly kinds: Kinds },
  problems: string[],
): Promise<readonly Expectation[]> {
  const expectations: Expectation[] = [];
  for (const file of (await Promise.all(paths.map(readFiles))).flat()) {
    if (!file.text) problems.push(`${file.path}: no such file of expectations; see docs/rules.md`);
    const reading = readExpectations(file, { kinds, signals: generic, alerts });
    if (reading.kind === "invalid") problems.push(...(file.text ? reading.problems : []));
    else expectations.push(...reading.expectations);
  }
  if (problems.length > 0) throw new CommandError("invalid files; fix these problems:", problems);
  return expectations;
}

/** The file `path`, or the YAML files in the folder `path`. */
async function readFiles(path: string): Promise<readonly TextFile[]> {
  const found = await stat(path).catch(() => undefined);
  const paths = found?.isDirectory() ? (await yamlFilesIn(path)).map((name) => join(path, name)) : [];
  if (paths.length === 0) return [{ path, text: found?.isFile() ? await readFile(path, "utf8") : "" }];
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(path, "utf8") })));
}
