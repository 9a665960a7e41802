import { type Explanation, explain, paragraphLines } from "../../operate/index.ts";
import type { ServerContext } from "../command.ts";
import { forEachName } from "../for-each-name.ts";
import { jsonLines } from "../output/terminal.ts";
import { yamlLines } from "../output/yaml.ts";
import { bareName } from "../parsing/kinds.ts";
import { type NamespaceOptions, searchedNamespace } from "../parsing/options.ts";

interface WhyOptions extends NamespaceOptions {
  readonly workflow?: string;
  readonly output?: "json" | "yaml";
}

/** `interlock why` */
export async function why(context: ServerContext, subjects: readonly string[], options: WhyOptions): Promise<number> {
  const { workflow, output } = options;
  const namespace = searchedNamespace(options, context);
  const found: Explanation[] = [];
  const status = await forEachName(subjects, context, async (subject) => {
    found.push(await explain({ text: bareName(subject), workflow, namespace }, context));
  });
  for (const line of outputLines(found, output)) context.terminal.print(line);
  return status;
}

/** For programs, the facts of one subject are an object, and those of several a list. */
function outputLines(found: readonly Explanation[], output: WhyOptions["output"]): readonly string[] {
  if (output === undefined) return paragraphLines(found.flatMap(({ text }) => text));
  const [first, ...more] = found.map(({ facts }) => facts);
  if (first === undefined) return [];
  const data = more.length === 0 ? first : [first, ...more];
  return output === "json" ? jsonLines(data) : yamlLines(data);
}
