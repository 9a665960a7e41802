import { builtInKinds, readYamlFile, type TextFile, type YamlPlace } from "../../resources/index.ts";
import { isObject } from "../json.ts";
import type { Reporter, ReporterMatch, SubjectStep } from "./reporters.ts";

export type ProvenanceReading =
  | { readonly kind: "valid"; readonly reporters: readonly Reporter[] }
  /** `file:line: path problem`, all of them. */
  | { readonly kind: "invalid"; readonly problems: readonly string[] };

/** Reads the rows that an installation adds to the table of label provenance: `provenance:` of a YAML file. */
export function readProvenance(file: TextFile): ProvenanceReading {
  const yaml = readYamlFile(file);
  if (yaml.kind === "invalid") return yaml;
  const problems: string[] = [];
  const add: AddProblem = (place, problem) => problems.push(`${yaml.at(place)}: ${placeText(place)} ${problem}`.trim());
  const list = isObject(yaml.value) ? yaml.value["provenance"] : undefined;
  if (!Array.isArray(list)) return { kind: "invalid", problems: [`${file.path}:1: must have a list "provenance:"`] };
  const reporters = list.map((row: unknown, i) => readRow(row, ["provenance", i], add));
  return problems.length > 0 ? { kind: "invalid", problems } : { kind: "valid", reporters };
}

type AddProblem = (place: YamlPlace, problem: string) => void;

const rowFields = ["name", "match", "scrape", "subject"];

function readRow(value: unknown, place: YamlPlace, add: AddProblem): Reporter {
  const row = isObject(value) ? value : {};
  if (!isObject(value)) add(place, `must be a row with ${rowFields.join(", ")}`);
  onlyFields(row, rowFields, place, add);
  const name = typeof row["name"] === "string" ? row["name"] : "";
  if (name === "") add([...place, "name"], "is missing or is not text");
  const subject = textList(row["subject"], [...place, "subject"], add);
  for (const [i, step] of subject.entries()) checkStep(step, [...place, "subject", i], add);
  return {
    name,
    match: [readMatch(row["match"], [...place, "match"], add)],
    scrape: row["scrape"] === undefined ? [] : textList(row["scrape"], [...place, "scrape"], add),
    subject: subject as readonly SubjectStep[],
    otherwise: `the row "${name}" of the label provenance table finds none`,
  };
}

function readMatch(value: unknown, place: YamlPlace, add: AddProblem): ReporterMatch {
  if (!isObject(value) || Object.keys(value).length === 0) {
    add(place, "must be one or more of exporter, alertname, labels, without");
    return {};
  }
  onlyFields(value, ["exporter", "alertname", "labels", "without"], place, add);
  const pattern = (key: "exporter" | "alertname") =>
    value[key] === undefined ? {} : { [key]: readPattern(value[key], [...place, key], add) };
  const { labels } = value;
  if (labels !== undefined && !isObject(labels)) add([...place, "labels"], "must be names with patterns");
  return {
    ...pattern("exporter"),
    ...pattern("alertname"),
    ...(isObject(labels)
      ? {
          labels: Object.fromEntries(
            Object.entries(labels).map(([label, one]) => [label, readPattern(one, [...place, "labels", label], add)]),
          ),
        }
      : {}),
    ...(value["without"] === undefined ? {} : { without: textList(value["without"], [...place, "without"], add) }),
  };
}

/** A text, a list of texts, or `/a regular expression/`, for the whole value. */
function readPattern(value: unknown, place: YamlPlace, add: AddProblem): RegExp {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const sources = texts.map((text) => {
    if (typeof text !== "string" || text === "") {
      add(place, "must be text, a /regular expression/ or a list of them");
      return "";
    }
    const [, expression] = /^\/(.+)\/$/.exec(text) ?? [];
    return expression ?? text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  });
  try {
    return new RegExp(`^(?:${sources.join("|")})$`);
  } catch {
    add(place, "is not a valid regular expression");
    return /^$/;
  }
}

const plainSteps: readonly string[] = [
  "objects",
  "pod",
  "foreign-pod",
  "service",
  "endpoints",
  "node",
  "evident-node",
  "host",
  "namespace",
  "sample-namespace",
  "exported-namespace",
];

function checkStep(step: string, place: YamlPlace, add: AddProblem): void {
  if (plainSteps.includes(step)) return;
  const [, kind] = /^[A-Za-z_][A-Za-z0-9_]*=(.+)$/.exec(step) ?? [];
  const isWithGroup = kind !== undefined && /^[A-Z][A-Za-z0-9]*\.[a-z0-9.-]+\/v[a-z0-9]+$/.test(kind);
  if (kind !== undefined && (isWithGroup || builtInKinds.find(kind))) return;
  add(place, `is "${step}"; there is ${plainSteps.join(", ")} and LABEL=KIND, as in app=Deployment`);
}

function textList(value: unknown, place: YamlPlace, add: AddProblem): readonly string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  add(place, "must be a list of texts");
  return [];
}

function onlyFields(value: object, known: readonly string[], place: YamlPlace, add: AddProblem): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) add([...place, key], `is not a known field; there is ${known.join(", ")}`);
  }
}

function placeText(place: YamlPlace): string {
  return place.map((key, i) => (typeof key === "number" ? `[${key}]` : i === 0 ? key : `.${key}`)).join("");
}
