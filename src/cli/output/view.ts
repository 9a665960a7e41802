import type { KubeObject } from "../../kube/index.ts";
import type { Kind } from "../../resources/index.ts";
import { MisuseError } from "../command.ts";
import { kubectlName } from "../parsing/kinds.ts";
import { parseTemplate } from "./json-path-template.ts";
import { Table } from "./table.ts";
import { jsonLines, type Line, type Terminal } from "./terminal.ts";
import { yamlLines } from "./yaml.ts";

/** Prints objects of one kind in one format. */
export interface View {
  /** Prints all of them, together. */
  show(objects: readonly KubeObject[], nowMs: number): void;
  /** Prints one that has changed, below the output before. */
  showChange(object: KubeObject, nowMs: number, isDeleted: boolean): void;
  /** The same for two states of an object that differ in nothing that is shown, however much time has passed. */
  looks(object: KubeObject): string;
}

interface ViewOptions {
  /** The value of `--output`; undefined for a table. */
  readonly output?: string | undefined;
  /** Whether one object was asked for by its name: it is shown by itself, not in a list. */
  readonly single: boolean;
  readonly withNamespace: boolean;
  /** Whether changes follow: a column that is empty now may be needed then. */
  readonly watch: boolean;
}

/** The view that `--output` names. */
export function openView(kind: Kind, options: ViewOptions, { print, printOutput, width }: Terminal): View {
  const { output = "table", single, withNamespace, watch } = options;
  const printAll = (lines: readonly Line[]) => lines.forEach(print);
  const [format, template] = splitAtEquals(output);
  switch (format) {
    case "table":
    case "wide":
      return tableView(
        new Table(kind, { wide: format === "wide", withNamespace, maxWidth: watch ? undefined : width?.() }),
        printAll,
      );
    case "name":
      return {
        show: (objects) => printAll(objects.map((object) => kubectlName(kind, object))),
        showChange: (object) => print(kubectlName(kind, object)),
        looks: ({ metadata }) => metadata.resourceVersion ?? "",
      };
    case "json":
      return dataView(kind, single, (data) => printAll(jsonLines(data)));
    case "yaml":
      return dataView(kind, single, (data, i) => printAll([...(i > 0 ? ["---"] : []), ...yamlLines(data)]));
    case "jsonpath": {
      const render = readTemplate(template);
      return dataView(kind, single, (data) => printOutput(render(data)));
    }
    default:
      throw new MisuseError(`unknown output format "${output}"`);
  }
}

function splitAtEquals(text: string): readonly [string, string | undefined] {
  const at = text.indexOf("=");
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function readTemplate(text: string | undefined) {
  if (!text) throw new MisuseError("the output format jsonpath needs a template, as in jsonpath='{.metadata.name}'");
  try {
    return parseTemplate(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new MisuseError(`the jsonpath template is not valid: ${error.message}`);
  }
}

function tableView(table: Table, printAll: (lines: readonly Line[]) => void): View {
  return {
    show: (objects, nowMs) => printAll(table.lines(objects, nowMs)),
    showChange: (object, nowMs, isDeleted) => {
      const line = table.line(object, nowMs);
      printAll([isDeleted ? [...line, "   (deleted)"] : line]);
    },
    looks: (object) => table.looks(object),
  };
}

/** As kubectl does, without `managedFields`. `printData` receives an object or a list, and how many were printed before. */
function dataView(kind: Kind, single: boolean, printData: (data: unknown, before: number) => void): View {
  const { apiVersion, kind: name } = kind;
  const typed = (object: KubeObject) => {
    const metadata = { ...object.metadata, managedFields: undefined };
    return { ...object, metadata, apiVersion, kind: name };
  };
  let printed = 0;
  return {
    show: (objects) => {
      const [only, another] = objects;
      const isAlone = single && only !== undefined && another === undefined;
      printData(isAlone ? typed(only) : { apiVersion: "v1", kind: "List", items: objects.map(typed) }, printed++);
    },
    showChange: (object) => printData(typed(object), printed++),
    looks: ({ metadata }) => metadata.resourceVersion ?? "",
  };
}
